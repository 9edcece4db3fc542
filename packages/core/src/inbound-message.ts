import { z } from 'zod';
import { StoredResponseFormat } from './json-schema/answer-check.ts';

/**
 * The parts of a message that its sender typed or spoke in this chat, as far as the adapter knows.
 * Everything else is outsiders' text, whoever passed it on: forwarded messages and their captions,
 * contact cards, locations, polls, games, texts from inline bots, what a platform or the adapter
 * writes about a message, files, stickers.
 */
export const Authored = z.strictObject({
  /**
   * All of `text`: typed, dictated into the app, or taken from a button of this bot that the sender
   * pressed.
   */
  text: z.literal(true).optional(),
  /** The voice recordings among the attachments: the sender recorded them for this message. */
  voice: z.literal(true).optional(),
  /** The text in `replyTo`: typed by the same sender or, in a direct chat, written by this bot. */
  quote: z.literal(true).optional(),
});
export type Authored = z.infer<typeof Authored>;

/**
 * The kind of chat in which a message was written; it determines privacy, activation and the lane.
 */
export const ChatType = z.enum(['direct', 'group', 'channel', 'thread']);
export type ChatType = z.infer<typeof ChatType>;

const Id = z.string().min(1).max(256);

/** The chat: the platform's id, its kind, and the name of a group or thread. */
export const Chat = z.strictObject({
  id: Id,
  type: ChatType,
  title: z.string().optional(),
  threadId: Id.optional(),
  /**
   * One of several chats of the same person. It has its own history, even where accounts are linked
   * (F13).
   */
  separate: z.literal(true).optional(),
  /** The platform's id of the chat since it was moved; inside Parley it keeps `id`. */
  movedTo: Id.optional(),
  /**
   * The enclosing place, which access lists may name: a business account, the questions of a guest.
   */
  within: Id.optional(),
});
export type Chat = z.infer<typeof Chat>;

/** The author as the platform knows them. `name` is chosen by that person and never trusted. */
export const Sender = z.strictObject({
  id: Id,
  name: z.string(),
  username: z.string().optional(),
  /**
   * Whether it is a bot, a webhook or the platform itself. Such senders never start a turn (F07).
   */
  isBot: z.boolean(),
  /** The ids of the sender's roles in this group, where the platform reports them (F05). */
  roles: z.array(Id).max(500).optional(),
});
export type Sender = z.infer<typeof Sender>;

/**
 * A file of a message. Its bytes stay on the platform until the core fetches them through the
 * adapter by `ref`, which only the adapter interprets. Sizes are in bytes, as reported by the
 * platform.
 */
export const Attachment = z.strictObject({
  kind: z.enum(['image', 'audio', 'voice', 'video', 'document', 'sticker']),
  /** Never trusted: a name may contain anything. */
  name: z.string().optional(),
  mimeType: z.string().optional(),
  size: z.int().nonnegative().optional(),
  /** The length of a recording or video, in seconds. */
  seconds: z.number().nonnegative().optional(),
  /** The sender's description for people who cannot see it. Never trusted. */
  description: z.string().max(2_000).optional(),
  /**
   * The sender permits viewing it once: its bytes are deleted when its turn is over, and no backup
   * contains them (F18).
   */
  viewOnce: z.literal(true).optional(),
  ref: z.string().min(1).max(4_096),
});
export type Attachment = z.infer<typeof Attachment>;

/**
 * One normalized platform event (F01): the only thing an adapter passes to the core, and all that
 * the core ever knows about it. Times are milliseconds since 1970.
 */
export const InboundMessage = z.strictObject({
  /** The adapter's id, for example `telegram`. */
  channel: Id,
  /** One of several accounts of the channel; `default` when there is only one. */
  account: Id,
  /** The platform's message id; unique within (channel, account, chat.id). */
  messageId: Id,
  chat: Chat,
  sender: Sender,
  /** The text, the caption, or the data of the pressed button. */
  text: z.string(),
  /**
   * What the person typed or pressed, if Parley has replaced `text` with its meaning: a command
   * that runs a plan. Only Parley sets it, as with `trigger`.
   */
  typed: z.string().optional(),
  /**
   * The message whose button was pressed; absent when the text was typed. Pressing a button counts
   * only if Parley sent that message with this button and never edited it (G05).
   */
  pressed: Id.optional(),
  /**
   * The parts of this message that its sender typed or spoke; everything else is outsiders' text.
   * When absent, the adapter does not report it, and only the text of a message without files,
   * quotes and brackets counts as typed.
   */
  authored: Authored.optional(),
  attachments: z.array(Attachment).min(1).max(32).optional(),
  /** Messages with the same album id were sent together and form one turn (F08). */
  albumId: Id.optional(),
  replyTo: z
    .strictObject({ messageId: Id, senderId: Id.optional(), text: z.string().optional() })
    .optional(),
  /**
   * Quoted text that is not a message of this chat: a reply to a post in another chat, or a message
   * forwarded next to the sender's own text (F16). It is always outsiders' text and never quotes a
   * message of this chat.
   */
  quotation: z
    .strictObject({
      text: z.string().min(1),
      /**
       * Its author and origin as the platform names them: `News`, `Ben in Friends`. Never trusted.
       */
      from: z.string().optional(),
      /** The platform's id of its author, if known, so that `/forget` finds it. */
      senderId: Id.optional(),
    })
    .optional(),
  /**
   * Present when the platform waits for the answer to this message (a slash command): what the
   * adapter needs to give the answer, and only it interprets. The reply route contains it.
   */
  response: z.string().min(1).max(1_024).optional(),
  /**
   * The id of the sender's last message in this chat, which this one replaces together with its
   * files (U08).
   */
  replaces: Id.optional(),
  /** The ids, on the platform, of users mentioned in the text. */
  mentions: z.array(Id).default([]),
  /** Whether the bot was mentioned, replied to, or given a command meant for it (F06). */
  addressed: z.boolean(),
  sentAt: z.int().nonnegative(),
  /**
   * What an API client sent along: its own record of the conversation, and its instructions. Both
   * are as untrusted as the text, and neither is kept in the history.
   */
  client: z
    .strictObject({
      history: z
        .array(z.strictObject({ role: z.enum(['user', 'assistant']), text: z.string() }))
        .max(2_000)
        .optional(),
      instructions: z.string().optional(),
    })
    .optional(),
  /** Custom turn variables, passed on to the runtime facts (F02). */
  variables: z.record(z.string(), z.string()).default({}),
  /**
   * The JSON format of the answer; kept only from adapters that programs write to, and from jobs.
   * Code that accepts one from outside validates it as `ResponseFormat`; here it may come from an
   * earlier version, which accepted more.
   */
  responseFormat: StoredResponseFormat.optional(),
  /**
   * Why Parley itself wrote this message; absent when a person did. `boot` after a start (W08),
   * `sub-agent` for a sub-agent's task or result (G07), `heartbeat` for a standing task (H02),
   * `cron` for a job that is due (H08). Only Parley sets it; `stripInternalFields` removes it from an
   * adapter's message.
   */
  trigger: z.enum(['boot', 'sub-agent', 'heartbeat', 'cron']).optional(),
});
export type InboundMessage = z.infer<typeof InboundMessage>;

/**
 * One person's current reactions to a message. They start no turn and answer no question: they are
 * context for the next turn (F06).
 */
export const InboundReaction = z.strictObject({
  channel: Id,
  account: Id,
  chat: Chat,
  /** The id of the message to which the person reacted. */
  messageId: Id,
  sender: Sender,
  /**
   * The reactions as text: emojis, or names of those that only the platform has. Empty when all
   * were removed.
   */
  emojis: z.array(z.string().min(1).max(64)).max(20),
  sentAt: z.int().nonnegative(),
  /** Text of that message, if the event carried it. */
  quoted: z.string().optional(),
});
export type InboundReaction = z.infer<typeof InboundReaction>;

/**
 * The channels whose messages come from the operator's programs rather than from people in chats.
 */
const PROGRAMS: ReadonlySet<string> = new Set(['api', 'web']);

/** Removes from a message what only Parley may set, so that no platform can impersonate Parley. */
export function stripInternalFields({
  trigger: _trigger,
  typed: _typed,
  responseFormat,
  ...message
}: InboundMessage): InboundMessage {
  const mayAsk = responseFormat !== undefined && PROGRAMS.has(message.channel);
  return mayAsk ? { ...message, responseFormat } : message;
}

/** Everything a turn knows about where, when, by whom and for whom it runs (F02). */
export const RuntimeFacts = z.strictObject({
  agent: z.strictObject({ id: z.string(), name: z.string() }),
  /** The remote person: Parley's id for them (`telegram:42`) and the name they chose. */
  user: z.strictObject({ id: z.string(), name: z.string() }),
  channel: z.string(),
  account: z.string(),
  channelUserId: z.string(),
  chatType: ChatType,
  groupId: z.string().optional(),
  groupTitle: z.string().optional(),
  threadId: z.string().optional(),
  messageId: z.string(),
  replyToMessageId: z.string().optional(),
  mentions: z.array(z.string()),
  addressed: z.boolean(),
  /** The agent's local date and time, for example `2026-11-21` and `14:05`. */
  date: z.string(),
  time: z.string(),
  timeZone: z.string(),
  workspace: z.string(),
  heartbeat: z.boolean(),
  variables: z.record(z.string(), z.string()),
});
export type RuntimeFacts = z.infer<typeof RuntimeFacts>;

/**
 * How messages that arrive during a turn are handled (D03): they form the next turn together
 * (`collect`), join the running one at its next step (`steer`), get a turn each (`followup`), or
 * interrupt the running one, whose messages are then answered with them (`interrupt`).
 */
export const BusyMode = z.enum(['collect', 'steer', 'followup', 'interrupt']);
export type BusyMode = z.infer<typeof BusyMode>;

const BusyKinds = z.strictObject({
  direct: BusyMode.optional().describe('Messages in direct chats; collect when absent.'),
  group: BusyMode.optional().describe('Messages in groups; collect when absent.'),
  channel: BusyMode.optional().describe('Messages in channels of a server; collect when absent.'),
  thread: BusyMode.optional().describe('Messages in threads and topics; collect when absent.'),
});

/**
 * One mode for all chats, or one per kind of chat and, with precedence, per channel such as
 * `telegram`. Kinds that are not named use `collect`.
 */
export const BusyPolicy = z.union([
  BusyMode,
  BusyKinds.extend({
    channels: z
      .record(z.string(), z.union([BusyMode, BusyKinds]))
      .optional()
      .describe('Channels that differ, by their names.'),
  }),
]);
export type BusyPolicy = z.infer<typeof BusyPolicy>;

/** The mode that a policy sets for the chat of a message. */
export function resolveBusyMode(
  policy: BusyPolicy,
  {
    channel,
    chat: { type },
  }: Pick<InboundMessage, 'channel'> & { readonly chat: Pick<Chat, 'type'> },
): BusyMode {
  if (typeof policy === 'string') return policy;
  const own = policy.channels?.[channel];
  return (typeof own === 'string' ? own : own?.[type]) ?? policy[type] ?? 'collect';
}
