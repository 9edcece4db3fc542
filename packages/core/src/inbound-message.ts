import { z } from 'zod';
import { StoredResponseFormat } from './json-schema/answer-check.ts';

/**
 * The parts of a message that its sender typed or spoke in this chat, as the adapter knows them. Anything else is
 * text of outsiders, no matter who passed it on: forwarded messages and their captions, contact cards, places, polls,
 * games, texts of inline bots, what a platform or the adapter itself writes about a message, files, stickers.
 */
export const Authored = z.strictObject({
  /** All of `text`: typed, dictated into the app, or the button of this bot that they pressed. */
  text: z.literal(true).optional(),
  /** The voice recordings among the attachments: recorded by the sender for this message. */
  voice: z.literal(true).optional(),
  /** The text in `replyTo`: typed by the same sender, or in a direct chat written by this bot. */
  quote: z.literal(true).optional(),
});
export type Authored = z.infer<typeof Authored>;

/** The kind of place a message was written in; decides privacy, activation and the lane. */
export const ChatType = z.enum(['direct', 'group', 'channel', 'thread']);
export type ChatType = z.infer<typeof ChatType>;

const Id = z.string().min(1).max(256);

/** The place: the platform's chat id, its kind, and for groups and threads what they are called. */
export const Chat = z.strictObject({
  id: Id,
  type: ChatType,
  title: z.string().optional(),
  threadId: Id.optional(),
  /** One of several chats of the same person: it has its own history, also where accounts are linked (F13). */
  separate: z.literal(true).optional(),
  /** The id by which the platform knows it since it moved; inside Parley it keeps `id`. */
  movedTo: Id.optional(),
  /**
   * The whole that it is one of many parts of, where an access list may name that: a business account, the questions
   * of a guest.
   */
  within: Id.optional(),
});
export type Chat = z.infer<typeof Chat>;

/** The author, as the platform knows them. `name` is chosen by that person and never trusted. */
export const Sender = z.strictObject({
  id: Id,
  name: z.string(),
  username: z.string().optional(),
  /** A bot, a webhook or the platform itself; such senders never start a turn (F07). */
  isBot: z.boolean(),
  /** Ids of the roles that they have in this group, where the platform has roles and says so (F05). */
  roles: z.array(Id).max(500).optional(),
});
export type Sender = z.infer<typeof Sender>;

/**
 * A file of a message. Its bytes stay with the platform until the core fetches them through the
 * adapter by `ref`, which only the adapter understands. Sizes in bytes, as the platform claims them.
 */
export const Attachment = z.strictObject({
  kind: z.enum(['image', 'audio', 'voice', 'video', 'document', 'sticker']),
  /** Never trusted: a name may contain anything. */
  name: z.string().optional(),
  mimeType: z.string().optional(),
  size: z.int().nonnegative().optional(),
  /** The length of a recording or video, in seconds. */
  seconds: z.number().nonnegative().optional(),
  /** The sender's description for people who do not see it. Never trusted. */
  description: z.string().max(2_000).optional(),
  /** Its sender lets it be seen once: its bytes are dropped when its turn is over, and are in no backup (F18). */
  viewOnce: z.literal(true).optional(),
  ref: z.string().min(1).max(4_096),
});
export type Attachment = z.infer<typeof Attachment>;

/**
 * One platform event, normalised (F01): the only thing an adapter hands to the core, and everything
 * the core ever knows of it. Times are milliseconds since 1970.
 */
export const InboundMessage = z.strictObject({
  /** The adapter's id, for example `telegram`. */
  channel: Id,
  /** Which of several accounts of that channel; `default` where there is one. */
  account: Id,
  /** The platform's message id; unique within (channel, account, chat.id). */
  messageId: Id,
  chat: Chat,
  sender: Sender,
  /** The text, the caption, or the data of the button that was pressed. */
  text: z.string(),
  /**
   * The words or button of that person, where Parley has put their meaning into `text`: a command that runs a plan.
   * Set by Parley alone, as `trigger` is.
   */
  typed: z.string().optional(),
  /**
   * The message whose button was pressed; absent where the text was typed. A press counts only if Parley sent that
   * message with this button, and it was never edited (G05).
   */
  pressed: Id.optional(),
  /**
   * The parts of this message that its sender typed or spoke; everything else in it is text of outsiders. Absent: the
   * adapter does not say, so only the text of a message without files, quotes and brackets counts as typed.
   */
  authored: Authored.optional(),
  attachments: z.array(Attachment).min(1).max(32).optional(),
  /** Messages with the same one were sent together as an album and form one turn (F08). */
  albumId: Id.optional(),
  replyTo: z
    .strictObject({ messageId: Id, senderId: Id.optional(), text: z.string().optional() })
    .optional(),
  /**
   * Quoted text that is not a message of this chat: a reply to a post of another chat, or a message that is passed on
   * beside own words (F16). It is always text of outsiders, and no message of this chat can be quoted by it.
   */
  quotation: z
    .strictObject({
      text: z.string().min(1),
      /** Its author and place, as the platform names them: `News`, `Ben in Friends`. Never trusted. */
      from: z.string().optional(),
      /** The platform's id of its author, where known, so that `/forget` finds it. */
      senderId: Id.optional(),
    })
    .optional(),
  /**
   * The platform waits for the answer to this one (a slash command): what the adapter needs to give it there, which
   * only the adapter understands. The route takes it along.
   */
  response: z.string().min(1).max(1_024).optional(),
  /** Id of the sender's last message of this chat: this one takes its place, and its files along (U08). */
  replaces: Id.optional(),
  /** Platform user ids that the text mentions. */
  mentions: z.array(Id).default([]),
  /** The bot was mentioned, replied to, or given a command meant for it (F06). */
  addressed: z.boolean(),
  sentAt: z.int().nonnegative(),
  /**
   * The fields that a client of the API sent along: its own record of the talk, and its instructions. As untrusted as
   * the text; neither is kept in the history.
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
  /** Custom turn variables, carried through to the runtime facts (F02). */
  variables: z.record(z.string(), z.string()).default({}),
  /**
   * The JSON to answer with; kept only from adapters that programs write to, and from jobs. Code that takes one
   * from outside examines it as `ResponseFormat`; here it may be of an earlier version, which accepted more.
   */
  responseFormat: StoredResponseFormat.optional(),
  /**
   * The reason for which Parley itself wrote this message; absent where a person did: `boot` after a start (W08),
   * `sub-agent` for what one is to do or has done (G07), `heartbeat` for a standing task (H02), `cron` for a job
   * whose time has come (H08). Set by Parley alone; a message from an adapter loses it (`fromOutside`).
   */
  trigger: z.enum(['boot', 'sub-agent', 'heartbeat', 'cron']).optional(),
});
export type InboundMessage = z.infer<typeof InboundMessage>;

/**
 * The current reactions of one person to a message. It starts no turn and answers no question: it is context of the
 * next turn (F06).
 */
export const InboundReaction = z.strictObject({
  channel: Id,
  account: Id,
  chat: Chat,
  /** The id of the message that was reacted to. */
  messageId: Id,
  sender: Sender,
  /** As text: emojis, or names of those that only the platform has. Empty: all were taken back. */
  emojis: z.array(z.string().min(1).max(64)).max(20),
  sentAt: z.int().nonnegative(),
  /** Text of that message, if the event carried it. */
  quoted: z.string().optional(),
});
export type InboundReaction = z.infer<typeof InboundReaction>;

/** The channels whose messages are written by programs of the operator, and not by people in chats. */
const PROGRAMS: ReadonlySet<string> = new Set(['api', 'web']);

/** A message without what only Parley may set, so that no platform can pass for Parley itself. */
export function fromOutside({
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
 * The handling of messages that arrive during a turn (D03): they form the next one together (`collect`), join the
 * running one at its next step (`steer`), get one each (`followup`), or end the running one, whose messages are then
 * answered with them (`interrupt`).
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
 * One for all chats, or one for each kind of chat and, before that, for a channel such as `telegram`; kinds that are
 * not named collect.
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

/** The mode of a policy for the chat of a message. */
export function busyIn(
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
