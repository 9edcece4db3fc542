import type { ChatType } from '@parley/core';
import type { ChatKey } from '../conversations.ts';
import { HEARTBEAT_LANE, SUB_AGENT_LANE } from '../conversations.ts';
import { defineStatement, encodeJson, type Sql } from '../database.ts';
import type { PartState } from '../outbox-parts.ts';
import type { ConversationMode, InboxOutcome } from '../rows.ts';
import { SHARED_NOW } from '../shared-clock.ts';
import { buildTakenOverCondition } from '../taken-over.ts';
import {
  getThread,
  type InboundMessageFields,
  parseInboundMessage,
  parseOutboundPart,
} from './messages.ts';

/**
 * A conversation with people, as shown in a list. Times are in ms; text is private and unabridged.
 */
export interface ConversationView extends ChatKey {
  readonly id: string;
  readonly chatType: ChatType;
  /** The group's title or the person's name; the chat id if neither is stored. */
  readonly title: string;
  /** The reader's own name for the conversation; null if they did not name it. */
  readonly name: string | null;
  readonly mode: ConversationMode;
  /** The model chosen with `/model`; null for the model in the settings. */
  readonly model: string | null;
  /** `asks`: the turn is waiting for an approval. */
  readonly state: 'idle' | 'waiting' | 'running' | 'asks';
  /** How many messages are waiting for a turn. */
  readonly waiting: number;
  /** When the running turn started; null if no turn is running. */
  readonly runningSince: number | null;
  /**
   * The person who has taken over the conversation from the agent, and until when; null while the
   * agent answers (U12).
   */
  readonly takenOver: {
    readonly by: string;
    readonly since: number;
    readonly until: number;
  } | null;
  /** The last error, if the last turn failed or the last part was not delivered. */
  readonly failure: { readonly at: number; readonly reason: string } | null;
  readonly last: {
    readonly direction: 'in' | 'out';
    readonly at: number;
    readonly text: string;
    /** The group member who wrote the last message; null for the agent and in direct chats. */
    readonly by: string | null;
  };
  /** The newest message's number, which serves as the paging cursor. */
  readonly newest: number;
  /** The number of the newest part sent to the chat; 0 if none was sent. */
  readonly newestPart: number;
  /**
   * Whether the reader has unseen messages: only answers count in their own chat, all messages in
   * other chats.
   */
  readonly isNew: boolean;
}

/**
 * Which page of the list to read, and for whom: a sign-in, '' for the gateway's token, or null to
 * leave out inbox data.
 */
export interface ConversationListQuery {
  readonly before: number | null;
  readonly limit: number;
  readonly reader?: string | null;
}

/**
 * Builds a condition that uses the values in `NO_PEOPLE`: true for conversations with people, false
 * for the agent's own lanes.
 */
export function buildHasPeopleCondition<Column extends string>(column: Column) {
  return `${column} not like :subAgents and ${column} not like :heartbeats
    and ${column} not like :othersSubAgents and ${column} not like :othersHeartbeats` as const;
}

/**
 * Lists conversations, most recently active first. `before` is the `newest` value of the last
 * conversation on the previous page.
 */
export async function listConversations(
  sql: Sql,
  { before, limit, reader = null }: ConversationListQuery,
  moment: number | null,
): Promise<readonly ConversationView[]> {
  const values = { before: before ?? Number.MAX_SAFE_INTEGER, limit, reader, moment };
  const rows = await sql.all(LIST, { ...values, ...NO_PEOPLE, ...TRIGGER });
  return rows.map(toConversationView);
}

/** The maximum number of pinned conversations per reader, which the list shows above all others. */
export const MAX_PINNED = 50;

/** Lists a reader's pinned conversations, most recently active first. */
export async function listPinnedConversations(
  sql: Sql,
  reader: string,
  moment: number | null,
): Promise<readonly ConversationView[]> {
  const values = { reader, limit: MAX_PINNED, moment, ...TRIGGER };
  return (await sql.all(PINNED, values)).map(toConversationView);
}

/**
 * Returns titles by conversation id, or the reader's own names for the conversations. Leaves out
 * conversations that are not listed anywhere.
 */
export async function readConversationTitles(
  sql: Sql,
  ids: Iterable<string>,
  reader: string | null,
): Promise<ReadonlyMap<string, string>> {
  const rows = await sql.all(TITLES, { ids: encodeJson([...new Set(ids)]), reader, ...TRIGGER });
  return new Map(
    rows.map((row) => [row.id, row.name ?? getChatTitle(findPersonalMessage(row)) ?? row.chatId]),
  );
}

/** Reads one conversation; null if it does not exist. */
export async function findConversation(
  sql: Sql,
  id: string,
  moment: number | null,
  reader: string | null,
): Promise<ConversationView | null> {
  const row = await sql.get(ONE, { id, moment, reader, ...TRIGGER });
  return row === undefined ? null : toConversationView(row);
}

/** Finds the newest message from a person, because jobs and triggers have no name to show. */
export function findPersonalMessage({
  message,
  byPerson,
}: NewestMessage): InboundMessageFields | null {
  return parseInboundMessage(byPerson ?? message);
}

function toConversationView(row: ListRow): ConversationView {
  const said = findPersonalMessage(row);
  const { id, channel, account, chatId, name, mode, model, waiting, newest } = row;
  return {
    ...{ id, channel, account, chatId, name, mode, model, waiting, newest },
    newestPart: row.newestPart ?? 0,
    isNew: isUnread(row),
    chatType: said?.chat.type ?? 'direct',
    title: getChatTitle(said) ?? chatId,
    state: getConversationState(row),
    runningSince: row.runningSince,
    takenOver: getTakeover(row),
    failure: getLastFailure(row),
    last: getLastMessage(row),
  };
}

/** Channels in which only answers count as unread, because the reader wrote the other messages. */
const OWN_CHANNELS: readonly string[] = ['web', 'terminal'];

function isUnread({ channel, newest, newestPart, readMessage, readPart }: ListRow): boolean {
  if (readMessage === null || readPart === null) return false;
  return OWN_CHANNELS.includes(channel) ? (newestPart ?? 0) > readPart : newest > readMessage;
}

/** The title of a group, or the person's name in a direct chat. */
export function getChatTitle(said: InboundMessageFields | null): string | null {
  if (said === null) return null;
  const { chat, sender } = said;
  const title = chat.type === 'direct' ? sender.name : chat.title;
  return title === undefined || title.trim() === '' ? null : title;
}

function getTakeover({ ledBy, ledSince, ledUntil }: ListRow): ConversationView['takenOver'] {
  if (ledBy === null || ledSince === null || ledUntil === null) return null;
  return { by: ledBy, since: ledSince, until: ledUntil };
}

function getConversationState(row: ListRow): ConversationView['state'] {
  const { runningSince, awaits, asks, waiting, ledUntil } = row;
  if (asks || (runningSince !== null && awaits !== null)) return 'asks';
  if (runningSince !== null) return ledUntil === null ? 'running' : 'waiting';
  return waiting > 0 ? 'waiting' : 'idle';
}

function getLastFailure(row: ListRow): ConversationView['failure'] {
  if (row.outcome === 'failed') {
    return { at: row.finishedAt ?? row.at, reason: row.reason ?? 'The turn failed.' };
  }
  if (row.partState !== 'failed' && row.partState !== 'unknown') return null;
  if (!isSameThread(row)) return null;
  const unknown = 'It may not have arrived.';
  return { at: row.sentAt ?? row.at, reason: row.error ?? unknown };
}

/** Whether the chat's last part belongs to this thread. */
function isSameThread({ route, partRoute }: ListRow): boolean {
  return partRoute !== null && getThread(route) === getThread(partRoute);
}

function getLastMessage(row: ListRow): ConversationView['last'] {
  const { at, sentAt, body } = row;
  if (body !== null && sentAt !== null && sentAt >= at && isSameThread(row)) {
    return {
      direction: 'out',
      at: sentAt,
      text: getPreviewText(parseOutboundPart(body)),
      by: null,
    };
  }
  const said = parseInboundMessage(row.message);
  const by = said?.chat.type === 'direct' || said?.trigger !== undefined ? null : said?.sender.name;
  return { direction: 'in', at, text: said?.typed ?? said?.text ?? '', by: by ?? null };
}

/** A part that consists only of a file is shown with the file's name. */
function getPreviewText(part: ReturnType<typeof parseOutboundPart>): string {
  return part?.plain || (part?.file?.name ?? '');
}

interface NewestMessage {
  readonly message: string;
  /** The newest message from a person, if Parley wrote the newest message; otherwise null. */
  readonly byPerson: string | null;
}

interface ListRow extends ChatKey, NewestMessage {
  readonly id: string;
  readonly name: string | null;
  readonly mode: ConversationMode;
  readonly model: string | null;
  readonly newest: number;
  readonly route: string;
  readonly at: number;
  readonly outcome: InboxOutcome | null;
  readonly reason: string | null;
  readonly finishedAt: number | null;
  readonly runningSince: number | null;
  readonly awaits: string | null;
  readonly ledBy: string | null;
  readonly ledSince: number | null;
  readonly ledUntil: number | null;
  readonly waiting: number;
  /** Converts the number because SQLite has no boolean type. */
  readonly asks: boolean | number;
  readonly body: string | null;
  readonly sentAt: number | null;
  readonly partState: PartState | null;
  readonly partRoute: string | null;
  readonly error: string | null;
  readonly newestPart: number | null;
  /** The reader's read position; null if no reader was given or they have never used the inbox. */
  readonly readMessage: number | null;
  readonly readPart: number | null;
}

/** Patterns for the ids of lanes in which Parley does its own work. */
export const NO_PEOPLE = {
  subAgents: `${SUB_AGENT_LANE}%`,
  heartbeats: `${HEARTBEAT_LANE}%`,
  // Pattern for the ids of lanes that belong to named agents.
  othersSubAgents: `@%/${SUB_AGENT_LANE}%`,
  othersHeartbeats: `@%/${HEARTBEAT_LANE}%`,
};

const WITH_NEWEST = `
  select id, mode, model, taken_over_until, coalesce(deleted_message, 0) as deleted,
    coalesce(deleted_part, 0) as deleted_part,
    (select max(seq) from inbox where conversation_id = conversation.id) as newest
  from conversation`;

/**
 * Matches messages with a trigger, which Parley wrote. Text cannot imitate the pattern, because
 * quotes inside a JSON string are escaped.
 */
export const TRIGGER = { trigger: '%,"trigger":"%' };

/** The `byPerson` column of a `NewestMessage`, where `inbox` is the current row. */
export function buildByPersonColumn<const Conversation extends string>(conversation: Conversation) {
  return `case when inbox.message like :trigger then (select said.message from inbox as said
      where said.conversation_id = ${conversation} and said.message not like :trigger
        and said.seq > coalesce((select deleted_message from conversation
          where conversation.id = said.conversation_id), 0)
      order by said.seq desc limit 1) end as "byPerson"` as const;
}

// The newest rows are looked up only for the conversations on one page.
const FACTS = `
  select talk.id, talk.mode, talk.model, talk.newest, inbox.channel, inbox.account, inbox.chat_id as "chatId",
    inbox.message, ${buildByPersonColumn('talk.id')}, inbox.route, inbox.received_at as at, inbox.outcome, turn.reason,
    turn.finished_at as "finishedAt", running.started_at as "runningSince", running.awaits,
    (select count(*) from inbox as waits
      where waits.conversation_id = talk.id and waits.state = 'waiting') as waiting,
    exists (select 1 from approval where asked_in = talk.id and approval.state = 'pending') as asks,
    part.body, part.created_at as "sentAt", part.state as "partState", part.route as "partRoute",
    part.error, part.seq as "newestPart",
    led.taken_by as "ledBy", led.taken_at as "ledSince", led.until as "ledUntil",
    coalesce(mark.read_message, reader.read_message) as "readMessage",
    coalesce(mark.read_part, reader.read_part) as "readPart", mark.title as name` as const;

const JOINED = `
  join inbox on inbox.seq = talk.newest
  left join turn on turn.id = inbox.turn_id
  left join turn as running on running.conversation_id = talk.id and running.state = 'running'
  left join outbox as part on part.seq = (select max(seq) from outbox
    where outbox.channel = inbox.channel and outbox.account = inbox.account
      and outbox.chat_id = inbox.chat_id and outbox.seq > talk.deleted_part)
  left join inbox_reader as reader on reader.reader = :reader
  left join conversation_mark as mark on mark.reader = :reader and mark.conversation_id = talk.id
  left join takeover as led on led.conversation_id = talk.id and led.until = talk.taken_over_until
    and led.ended_at is null and ${buildTakenOverCondition(SHARED_NOW, 'talk')}` as const;

const LIST = defineStatement(`${FACTS} from (
    select * from (${WITH_NEWEST} where ${buildHasPeopleCondition('id')}) as known
    where newest < :before and newest > deleted order by newest desc limit :limit) as talk
  ${JOINED} order by talk.newest desc`).rows<ListRow>();

const PINNED = defineStatement(`${FACTS} from (
    select * from (${WITH_NEWEST} where id in (select conversation_id from conversation_mark
      where conversation_mark.reader = :reader and pinned = 1)) as known
    where newest > deleted order by newest desc limit :limit) as talk
  ${JOINED} order by talk.newest desc`).rows<ListRow>();

const ONE = defineStatement(
  `${FACTS} from (${WITH_NEWEST} where id = :id) as talk ${JOINED} where talk.newest > talk.deleted`,
).rows<ListRow>();

const TITLES = defineStatement(`
  select talk.id, inbox.chat_id as "chatId", inbox.message, ${buildByPersonColumn('talk.id')},
    mark.title as name
  from (${WITH_NEWEST} where id in (select value from json_each(:ids))) as talk
  join inbox on inbox.seq = talk.newest
  left join conversation_mark as mark on mark.reader = :reader and mark.conversation_id = talk.id
  where talk.newest > talk.deleted`).rows<
  Pick<ListRow, 'id' | 'chatId' | 'message' | 'byPerson' | 'name'>
>();
