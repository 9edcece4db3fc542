import type { StepInfo } from '@parley/core';
import type { Approval } from '../approval-rows.ts';
import type { ChatKey } from '../conversations.ts';
import { HEARTBEAT_LANE, isLane, OF_CHAT } from '../conversations.ts';
import { defineStatement, type Sql } from '../database.ts';
import type { HeartbeatRun } from '../heartbeat-runs.ts';
import type { PartRetry, PartState } from '../outbox-parts.ts';
import type { InboxOutcome } from '../rows.ts';
import type { Takeover } from '../takeovers.ts';
import type { TurnRun } from '../turn-runs.ts';
import type { TurnState } from '../turns.ts';

/** Why a message does not have a row in the inbox. */
export type NotAcceptedOutcome = 'ignored' | 'refused';

/** Identifies the message in question. */
export interface WhyQuestion {
  /**
   * The platform's message id, `channel:chat/message` (with an account
   * `channel/account:chat/message`), the id of a turn or heartbeat run, or `last`.
   */
  readonly message: string;
  /** If set, only messages from this chat are searched. */
  readonly chat?: ChatKey | undefined;
  /** If set, only messages to this agent are searched; null for the default agent (F14). */
  readonly agent?: string | null;
}

/** Everything that is stored about one message; times are in ms, or null if unknown. */
export interface MessageRecord {
  readonly place: {
    readonly channel: string;
    readonly account: string;
    readonly chatId: string;
    readonly messageId: string;
  };
  /** When Parley received the message. */
  readonly receivedAt: number;
  /** The time reported by the platform; null if Parley itself added the message. */
  readonly sentAt: number | null;
  /** Why the message was accepted or not. */
  readonly reason: string | null;
  readonly fate: MessageOutcome;
}

/** Either the message was not accepted, or it was accepted with this outcome. */
type MessageOutcome =
  | { readonly kind: 'not-taken'; readonly outcome: NotAcceptedOutcome }
  | ({ readonly kind: 'taken' } & AcceptedMessageRecord);

/** A message that has a row in the inbox. */
export interface AcceptedMessageRecord {
  readonly conversationId: string;
  /** The chat to which the answer goes. */
  readonly answeredIn: ChatKey;
  readonly trigger: 'boot' | 'sub-agent' | 'heartbeat' | 'cron' | null;
  readonly state: 'waiting' | 'claimed' | 'done';
  readonly outcome: InboxOutcome | null;
  readonly repeats: number;
  readonly interruptions: number;
  readonly settlesAt: number | null;
  readonly claimedAt: number | null;
  readonly doneAt: number | null;
  readonly files: readonly string[];
  /** The turn that is running in the lane, unless it is the message's own turn. */
  readonly before: Pick<MessageTurnRecord, 'turnId' | 'startedAt' | 'isSuspended'> | null;
  readonly run: Pick<HeartbeatRun, 'agent' | 'task' | 'state' | 'reason'> | null;
  readonly cronJob: string | null;
  /** The takeovers while the message was waiting or being answered, oldest first. */
  readonly takeovers: readonly Takeover[];
  readonly turn: MessageTurnRecord | null;
  readonly parts: readonly PartRecord[];
}

/** The turn that claimed a message. */
export interface MessageTurnRecord {
  readonly turnId: string;
  readonly state: TurnState;
  readonly reason: string | null;
  readonly attempts: number;
  readonly startedAt: number;
  readonly finishedAt: number | null;
  readonly isSuspended: boolean;
  /** When the turn's model first became unavailable, in ms. */
  readonly putOffSince: number | null;
  /** When the turn will be tried again, in ms; null if it is not currently postponed. */
  readonly putOffUntil: number | null;
  /** The worker that currently runs the turn; null if no worker does. */
  readonly worker: string | null;
  /** Set if a person wrote the answer from the page (U12); null if the agent wrote it. */
  readonly written: { readonly by: string; readonly as: 'agent' | 'self' } | null;
  readonly runs: readonly TurnRun[];
  readonly prompt: PromptRecord | null;
  readonly steps: readonly TimedStep[];
  readonly approvals: readonly Approval[];
}

export interface PromptRecord {
  readonly at: number;
  readonly layout: string;
  readonly layers: number;
  /** The size of the whole request, including tools and history. */
  readonly characters: number;
  readonly tokens: number;
}

/** A journal step with its timing and details. */
export interface TimedStep {
  readonly startedAt: number | null;
  readonly endedAt: number;
  readonly facts: StepInfo;
}

/** A part that was sent because of the message. */
export interface PartRecord {
  readonly id: string;
  /**
   * The part's index in the answer; null if it went to another chat, or if it answers a command.
   */
  readonly index: number | null;
  /** Whether the part goes to the chat in which the message is answered. */
  readonly isHere: boolean;
  readonly state: PartState;
  readonly attempts: number;
  readonly createdAt: number;
  readonly notBefore: number;
  readonly triedAt: number | null;
  readonly sendingAt: number | null;
  readonly sentAt: number | null;
  readonly platformId: string | null;
  readonly error: string | null;
  readonly retries: readonly PartRetry[];
  /** How an operator settled the part's dead letter (D06). */
  readonly settled: string | null;
}

/** A message that matches a query, whether it was accepted or not. */
export interface MessageMatch extends ChatKey {
  /** `turn`: a person wrote the text on the page, and it does not answer a message. */
  readonly table: 'inbox' | 'decision' | 'turn';
  readonly seq: number;
  readonly messageId: string;
  readonly at: number;
}

/** The maximum number of matches offered. */
const MAX_FOUND = 10;
/** The number of newest rows searched for a person's newest message. */
const RECENT_MESSAGES = 50;

/** Finds the messages that match the query, newest first. */
export async function findMessages(
  sql: Sql,
  { message, chat }: WhyQuestion,
): Promise<readonly MessageMatch[]> {
  if (message === 'last') return findNewestMessage(sql, chat);
  const ofTurn = await sql.get(FIRST_OF_TURN, { turnId: message, ...toChatParameters(chat) });
  if (ofTurn !== undefined) return [ofTurn];
  const written = await sql.get(WRITTEN, { turnId: message, ...toChatParameters(chat) });
  if (written !== undefined) return [written];
  const named = parseMessageLocation(message);
  if (named !== null && (chat === undefined || isSameChat(named, chat))) {
    const exactly = await findMessagesById(sql, named.messageId, named);
    if (exactly.length > 0) return exactly;
  }
  const there = await findMessagesById(sql, message, chat);
  if (there.length > 0 || chat === undefined) return there;
  // Runs of standing tasks have a separate lane; whether this chat received their alert is checked
  // later.
  const anywhere = await findMessagesById(sql, message, undefined);
  return anywhere.filter(({ chatId }) => isLane(chatId, HEARTBEAT_LANE));
}

/** Whether two keys identify the same chat. */
export function isSameChat(one: ChatKey, other: ChatKey): boolean {
  return (
    one.channel === other.channel && one.account === other.account && one.chatId === other.chatId
  );
}

/** Parses `telegram:42/7` or `telegram/work:42/7`; the chat id ends at the last `/`. */
function parseMessageLocation(name: string): (ChatKey & { readonly messageId: string }) | null {
  const [, channel, account = 'default', chatId, messageId] =
    /^([a-z][a-z0-9-]*)(?:\/([^:/]+))?:(.+)\/([^/]+)$/.exec(name) ?? [];
  if (channel === undefined || chatId === undefined || messageId === undefined) return null;
  return { channel, account, chatId, messageId };
}

async function findMessagesById(
  sql: Sql,
  messageId: string,
  chat: ChatKey | undefined,
): Promise<readonly MessageMatch[]> {
  const rows = await sql.all(BY_ID, { messageId, ...toChatParameters(chat) });
  const isTaken = (one: MessageMatch) => one.table === 'inbox';
  // A picture is in both tables if its album was only later addressed to the bot.
  return rows.filter(
    (row) => isTaken(row) || !rows.some((one) => isTaken(one) && isSameChat(one, row)),
  );
}

/**
 * Finds the newest message from a person that is not a command; if there is none, the newest
 * message of any kind.
 */
async function findNewestMessage(
  sql: Sql,
  chat: ChatKey | undefined,
): Promise<readonly MessageMatch[]> {
  const rows = await readNewestMessages(sql, RECENT_MESSAGES, chat);
  const said = rows.find(({ isSaid }) => isSaid === 1) ?? rows[0];
  return said === undefined ? [] : [foundOf(said)];
}

/** Lists the newest messages in all chats, newest first. */
export async function listNewestMessages(
  sql: Sql,
  limit: number,
): Promise<readonly MessageMatch[]> {
  return (await readNewestMessages(sql, limit, undefined)).slice(0, limit).map(foundOf);
}

async function readNewestMessages(sql: Sql, limit: number, chat: ChatKey | undefined) {
  const rows = await (chat === undefined
    ? [...(await sql.all(NEWEST_TAKEN, { limit })), ...(await sql.all(NEWEST_NOT_TAKEN, { limit }))]
    : sql.all(NEWEST_THERE, { limit, ...toChatParameters(chat) }));
  return rows.toSorted((a, b) => b.at - a.at);
}

interface NewestMessageRow extends MessageMatch {
  /** 1 if a person wrote the message and it is not a command. */
  readonly isSaid: number;
}

const foundOf = ({ isSaid: _, ...found }: NewestMessageRow): MessageMatch => found;

/** Builds the parameters of `THERE`; null matches any chat. */
function toChatParameters(chat: ChatKey | undefined) {
  const { channel = null, account = null, chatId = null } = chat ?? {};
  return { channel, account, chatId };
}

const THERE = `((${OF_CHAT}) or :channel is null)` as const;

const MESSAGE = 'seq, channel, account, chat_id as "chatId", message_id as "messageId"';

const TAKEN = `select 'inbox' as "table", ${MESSAGE}, received_at as at` as const;

const NOT_TAKEN = `select 'decision' as "table", ${MESSAGE}, decided_at as at` as const;

const NEWEST_FIRST = 'order by seq desc limit';

const BY_ID = defineStatement(`
  select * from (${TAKEN} from inbox where message_id = :messageId and ${THERE}
    ${NEWEST_FIRST} ${MAX_FOUND}) as taken
  union all select * from (${NOT_TAKEN} from ingress_decision where message_id = :messageId and ${THERE}
    ${NEWEST_FIRST} ${MAX_FOUND}) as others
  order by at desc, "table" desc, seq desc`).rows<MessageMatch>();

const FIRST_OF_TURN = defineStatement(
  `${TAKEN} from inbox where turn_id = :turnId and ${THERE} order by seq limit 1`,
).rows<MessageMatch>();

const WRITTEN = defineStatement(`
  select 'turn' as "table", outbox.seq, channel, account, chat_id as "chatId", turn.id as "messageId",
    turn.started_at as at
  from turn join outbox on outbox.turn_id = turn.id
  where turn.id = :turnId and turn.written_by is not null and ${THERE}
  order by outbox.seq limit 1`).rows<MessageMatch>();

// Messages with a trigger were written by Parley. Message text cannot imitate the pattern, because
// quotes inside a JSON string are escaped.
const IS_SAID: string = `case when outcome = 'command' or message like '%,"trigger":"%' then 0 else 1 end`;

const ACCEPTED_ROW = `${TAKEN}, ${IS_SAID} as "isSaid" from inbox`;

const NOT_SAID = `${NOT_TAKEN}, 1 as "isSaid" from ingress_decision`;

const NEWEST_TAKEN = defineStatement(
  `${ACCEPTED_ROW} ${NEWEST_FIRST} :limit`,
).rows<NewestMessageRow>();

const NEWEST_NOT_TAKEN = defineStatement(
  `${NOT_SAID} ${NEWEST_FIRST} :limit`,
).rows<NewestMessageRow>();

const NEWEST_THERE = defineStatement(`
  select * from (${ACCEPTED_ROW} where ${OF_CHAT} ${NEWEST_FIRST} :limit) as taken
  union all select * from (${NOT_SAID} where ${OF_CHAT} ${NEWEST_FIRST} :limit) as others`).rows<NewestMessageRow>();
