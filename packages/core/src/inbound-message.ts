import { z } from 'zod';
import { StoredResponseFormat } from './json-schema/answer-check.ts';

/**
 * The parts of a message that its sender typed or spoke in this chat, as reported by the adapter.
 * Everything else is outsiders' text: forwarded messages and their captions, contact cards,
 * locations, polls, games, messages from inline bots, text that a platform or the adapter adds to a
 * message, files, stickers.
 */
export const Authored = z.strictObject({
  /**
   * True if the whole `text` was typed, dictated into the app, or taken from a button of this bot
   * that the sender pressed.
   */
  text: z.literal(true).optional(),
  /** True if the sender recorded the attached voice messages for this message. */
  voice: z.literal(true).optional(),
  /**
   * True if the text in `replyTo` was typed by the same sender or, in a direct chat, written by
   * this bot.
   */
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
   * True if this is one of several chats of the same person. Such a chat has a separate history,
   * even if accounts are linked (F13).
   */
  separate: z.literal(true).optional(),
  /** The platform's current id of a chat that was moved; Parley keeps `id`. */
  movedTo: Id.optional(),
  /**
   * The enclosing entity, which access lists may name: a business account, or a guest's questions.
   */
  within: Id.optional(),
});
export type Chat = z.infer<typeof Chat>;

/** The author as reported by the platform. `name` is chosen by that person and is not trusted. */
export const Sender = z.strictObject({
  id: Id,
  name: z.string(),
  username: z.string().optional(),
  /**
   * Whether the author is a bot, a webhook or the platform itself. Such senders never start a turn
   * (F07).
   */
  isBot: z.boolean(),
  /** The ids of the sender's roles in this group, if the platform reports them (F05). */
  roles: z.array(Id).max(500).optional(),
});
export type Sender = z.infer<typeof Sender>;

/**
 * A file in a message. The bytes stay on the platform until the core fetches them through the
 * adapter by `ref`, which only the adapter interprets. Sizes are in bytes, as reported by the
 * platform.
 */
export const Attachment = z.strictObject({
  kind: z.enum(['image', 'audio', 'voice', 'video', 'document', 'sticker']),
  /** The file name, which is untrusted and may contain anything. */
  name: z.string().optional(),
  mimeType: z.string().optional(),
  size: z.int().nonnegative().optional(),
  /** The length of a recording or video, in seconds. */
  seconds: z.number().nonnegative().optional(),
  /** The sender's description for people who cannot see the file. The description is untrusted. */
  description: z.string().max(2_000).optional(),
  /**
   * True if the sender permits viewing the file once: its bytes are deleted when its turn is over,
   * and no backup contains them (F18).
   */
  viewOnce: z.literal(true).optional(),
  ref: z.string().min(1).max(4_096),
});
export type Attachment = z.infer<typeof Attachment>;

/**
 * A normalized platform event (F01), the only form in which an adapter passes messages to the core.
 * Times are milliseconds since 1970.
 */
export const InboundMessage = z.strictObject({
  /** The adapter's id, for example `telegram`. */
  channel: Id,
  /** One of several accounts of the channel; `default` if there is only one. */
  account: Id,
  /** The platform's message id, which is unique within (channel, account, chat.id). */
  messageId: Id,
  chat: Chat,
  sender: Sender,
  /** The text, the caption, or the data of the pressed button. */
  text: z.string(),
  /**
   * The original text that the person typed or pressed, if Parley has replaced `text` with its
   * meaning, such as a command that runs a plan. Only Parley sets this field, as with `trigger`.
   */
  typed: z.string().optional(),
  /**
   * The message whose button was pressed; absent if the text was typed. A pressed button counts
   * only if Parley sent that message with this button and never edited it (G05).
   */
  pressed: Id.optional(),
  /**
   * The parts of this message that its sender typed or spoke; everything else is outsiders' text.
   * When absent, the adapter does not report authorship, and only the text of a message without
   * files, quotes and brackets counts as typed.
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
       * The author and origin as the platform names them: `News`, `Ben in Friends`. The names are
       * untrusted.
       */
      from: z.string().optional(),
      /** The platform's id of the author, if known, so that `/forget` finds the text. */
      senderId: Id.optional(),
    })
    .optional(),
  /**
   * The data with which the adapter sends the answer if the platform waits for it (a slash
   * command); only the adapter interprets the data. The reply route contains this data.
   */
  response: z.string().min(1).max(1_024).optional(),
  /**
   * The id of the sender's previous message in this chat, if the new message replaces it and its
   * files (U08).
   */
  replaces: Id.optional(),
  /** The ids, on the platform, of users mentioned in the text. */
  mentions: z.array(Id).default([]),
  /** Whether the bot was mentioned, replied to, or given a command meant for it (F06). */
  addressed: z.boolean(),
  sentAt: z.int().nonnegative(),
  /**
   * The data that an API client sent with the message: its own record of the conversation, and its
   * instructions. Both are as untrusted as the text, and neither is kept in the history.
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
  /** Custom turn variables, which become part of the runtime facts (F02). */
  variables: z.record(z.string(), z.string()).default({}),
  /**
   * The JSON format of the answer, kept only from adapters for programs and from jobs. Code that
   * accepts a format from a third party validates it as `ResponseFormat`; the stored form may come
   * from an earlier version, which accepted more.
   */
  responseFormat: StoredResponseFormat.optional(),
  /**
   * The reason why Parley itself wrote this message; absent if a person did. `boot` after a start
   * (W08), `sub-agent` for a sub-agent's task or result (G07), `heartbeat` for a standing task
   * (H02), `cron` for a job that is due (H08). Only Parley sets this field; `stripInternalFields`
   * removes it from an adapter's message.
   */
  trigger: z.enum(['boot', 'sub-agent', 'heartbeat', 'cron']).optional(),
});
export type InboundMessage = z.infer<typeof InboundMessage>;

/**
 * The current reactions of one person to a message. Reactions do not start turns or answer
 * questions; they are context for the next turn (F06).
 */
export const InboundReaction = z.strictObject({
  channel: Id,
  account: Id,
  chat: Chat,
  /** The id of the message to which the person reacted. */
  messageId: Id,
  sender: Sender,
  /**
   * The reactions as text: emojis, or the names of emojis that only the platform has. Empty if all
   * reactions were removed.
   */
  emojis: z.array(z.string().min(1).max(64)).max(20),
  sentAt: z.int().nonnegative(),
  /** The text of that message, if the event contained it. */
  quoted: z.string().optional(),
});
export type InboundReaction = z.infer<typeof InboundReaction>;

/**
 * The channels whose messages come from the operator's programs rather than from people in chats.
 */
const PROGRAMS: ReadonlySet<string> = new Set(['api', 'web']);

/** Removes the fields that only Parley may set, so that no platform can impersonate Parley. */
export function stripInternalFields({
  trigger: _trigger,
  typed: _typed,
  responseFormat,
  ...message
}: InboundMessage): InboundMessage {
  const mayAsk = responseFormat !== undefined && PROGRAMS.has(message.channel);
  return mayAsk ? { ...message, responseFormat } : message;
}

/** All facts about a turn's chat, time, sender and purpose (F02). */
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
 * (`collect`), join the running turn at its next step (`steer`), get a turn each (`followup`), or
 * interrupt the running turn, whose messages are then answered together with the new ones
 * (`interrupt`).
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
 * One mode for all chats, or one per kind of chat and per channel such as `telegram`, which takes
 * precedence. Kinds that are not named use `collect`.
 */
export const BusyPolicy = z.union([
  BusyMode,
  BusyKinds.extend({
    channels: z
      .record(z.string(), z.union([BusyMode, BusyKinds]))
      .optional()
      .describe('Channels with a different mode, by name.'),
  }),
]);
export type BusyPolicy = z.infer<typeof BusyPolicy>;

/** Returns the mode that a policy sets for the chat of a message. */
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
