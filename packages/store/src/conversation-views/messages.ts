import {
  InboundMessage,
  PartExtras,
  RenderedPart,
  type RenderTarget,
  ReplyRoute,
} from '@parley/core';
import { z } from 'zod';
import { decodeJson, defineStatement, encodeJson, type Sql } from '../database.ts';
import { type HistoryState, selectHistoryState } from '../history-state.ts';
import type { PartState } from '../outbox-parts.ts';
import type { InboxOutcome } from '../rows.ts';
import { listAnswers } from './answers.ts';

/**
 * The cursor for two merged lists: the next page continues before these message and part numbers.
 */
export interface PageCursor {
  readonly inbox: number;
  readonly outbox: number;
}

const EVER = Number.MAX_SAFE_INTEGER;

export const NEWEST: PageCursor = { inbox: EVER, outbox: EVER };

interface FileView {
  readonly kind: string;
  readonly name: string | null;
  /**
   * Whether the file's bytes are still stored: files in messages are kept for a day, files in
   * answers as long as the answer itself.
   */
  readonly isKept: boolean;
}

/**
 * A message from either side of a conversation. Times are in ms; text is private and unabridged.
 */
export interface MessageView {
  readonly id: string;
  readonly direction: 'in' | 'out';
  readonly at: number;
  /** The author's name; null for the agent or Parley itself. */
  readonly from: string | null;
  readonly text: string;
  readonly files: readonly FileView[];
  /** Set if Parley itself wrote the message for the agent, for example because a job came due. */
  readonly trigger: string | null;
  /** For a message: waiting, running, or its outcome; for a part: its delivery state. */
  readonly state: 'waiting' | 'running' | InboxOutcome | PartState;
  /** Why a part was not delivered. */
  readonly error: string | null;
  /**
   * The person who wrote this part on the page, as the agent or as themselves; null if the agent
   * wrote it (U12).
   */
  readonly writtenBy: { readonly name: string; readonly as: 'agent' | 'self' } | null;
  readonly history: HistoryState;
  /**
   * The argument that explains this message when passed to `why/message`; null if there is nothing
   * to explain.
   */
  readonly why: string | null;
  /** Set for an outbox part: its text in the platform's dialect, and its turn. */
  readonly sent?: {
    readonly text: string;
    readonly target: RenderTarget;
    readonly turnId: string | null;
  };
}

/** A page of messages, oldest first, with the cursor for older ones (null if there are none). */
export interface MessagePage {
  readonly messages: readonly MessageView[];
  /** The Markdown answers to the turns on this page, if they are still in the history. */
  readonly answers: ReadonlyMap<string, string>;
  readonly older: PageCursor | null;
}

/**
 * Selects a page: the newest messages before `before` (null for no limit), restricted to those sent
 * until `until` (ms).
 */
export interface MessageQuery {
  readonly conversationId: string;
  readonly before: PageCursor | null;
  readonly until: number | null;
  readonly limit: number;
}

/** Reads the messages and parts of a conversation, merged by time. */
export async function readMessages(sql: Sql, query: MessageQuery): Promise<MessagePage> {
  const { conversationId, limit } = query;
  const before = query.before ?? NEWEST;
  const until = query.until ?? EVER;
  const { message, part } = (await sql.get(DELETED, { conversationId })) ?? NOTHING_DELETED;
  const said = await sql.all(RECEIVED_MESSAGES, {
    ...{ conversationId, until, limit },
    ...{ before: before.inbox, after: message },
  });
  const sent: OutboundRow[] = [];
  for (const place of await listConversationChats(sql, conversationId, before.inbox)) {
    const bounds = { before: before.outbox, after: part, until, limit };
    sent.push(...(await sql.all(SENT, { ...place, ...bounds, conversationId })));
  }
  sent.sort((a, b) => b.seq - a.seq);
  const { taken, older } = mergeNewestFirst(said, sent, before, limit);
  const kept = await listStoredFiles(sql, taken);
  const messages = taken
    .map((row) =>
      row.direction === 'in' ? toIncomingMessageView(row, kept) : toOutgoingMessageView(row),
    )
    .reverse();
  const turns = new Set(messages.flatMap((one) => one.sent?.turnId ?? []));
  return { messages, answers: await listAnswers(sql, [...turns]), older };
}

interface MergedRow {
  readonly direction: 'in' | 'out';
  readonly seq: number;
  readonly at: number;
}

/**
 * Takes the later of the two heads until the page is full; each list keeps its order. `older` is
 * null if neither list has rows beyond this page.
 */
export function mergeNewestFirst<A extends MergedRow, B extends MergedRow>(
  one: readonly A[],
  other: readonly B[],
  before: PageCursor,
  limit: number,
): { readonly taken: readonly (A | B)[]; readonly older: PageCursor | null } {
  const taken: (A | B)[] = [];
  let [a, b] = [0, 0];
  while (taken.length < limit) {
    const [first, second] = [one[a], other[b]];
    const isFirst = second === undefined || (first !== undefined && first.at > second.at);
    const next = isFirst ? first : second;
    if (next === undefined) break;
    taken.push(next);
    if (isFirst) a += 1;
    else b += 1;
  }
  const isAll = taken.length === one.length + other.length;
  if (isAll && one.length < limit && other.length < limit) return { taken, older: null };
  const inbox = taken.findLast(({ direction }) => direction === 'in')?.seq ?? before.inbox;
  const outbox = taken.findLast(({ direction }) => direction === 'out')?.seq ?? before.outbox;
  return { taken, older: { inbox, outbox } };
}

/**
 * Finds the chats and threads of a conversation; a person with linked accounts may have several.
 */
async function listConversationChats(sql: Sql, conversationId: string, before: number) {
  const lately = { conversationId, before, newest: RECENT_MESSAGES };
  const rows = await sql.all(PLACES, lately);
  const found = rows.length > 0 ? rows : await sql.all(PLACES, { ...lately, before: EVER });
  return new Map(
    found.map(({ route, ...place }) => {
      const one = { ...place, thread: getThread(route) };
      return [encodeJson(Object.values(one)), one];
    }),
  ).values();
}

const RECENT_MESSAGES = 200;

/** Lists the message files whose bytes are stored, as `SEQ/INDEX`. */
async function listStoredFiles(
  sql: Sql,
  rows: readonly (InboundRow | OutboundRow)[],
): Promise<ReadonlySet<string>> {
  const seqs = rows.flatMap(({ direction, seq }) => (direction === 'in' ? [seq] : []));
  const kept = await sql.all(KEPT_FILES, { seqs: encodeJson(seqs) });
  return new Set(kept.map(({ seq, index }) => `${seq}/${index}`));
}

const KEPT_FILES = defineStatement(`
  select inbox_seq as seq, attachment_index as "index" from attachment
  where inbox_seq in (select cast(value as bigint) from json_each(:seqs))
    and (bytes is not null or file_id is not null)`).rows<{
  readonly seq: number;
  readonly index: number;
}>();

function toIncomingMessageView(row: InboundRow, kept: ReadonlySet<string>): MessageView {
  const said = parseInboundMessage(row.message);
  const files = (said?.attachments ?? []).map(({ kind, name = null }, index) => {
    return { kind, name, isKept: kept.has(`${row.seq}/${index}`) };
  });
  const trigger = said?.trigger ?? null;
  return {
    id: `i${row.seq}`,
    direction: 'in',
    at: row.at,
    from: trigger === null ? (said?.sender.name ?? null) : null,
    text: said?.typed ?? said?.text ?? '',
    files,
    trigger,
    state: row.state === 'waiting' ? 'waiting' : (row.outcome ?? 'running'),
    error: null,
    writtenBy: null,
    history: row.history,
    why: formatMessageReference(row),
  };
}

/**
 * An account name from the settings contains neither a colon nor a slash; if a message's account
 * name does, the message is looked up by its id alone.
 */
function formatMessageReference({ channel, account, chatId, messageId }: InboundRow): string {
  return /[:/]/.test(account) ? messageId : `${channel}/${account}:${chatId}/${messageId}`;
}

function toOutgoingMessageView(row: OutboundRow): MessageView {
  const part = parseOutboundPart(row.body);
  const file = part?.file;
  const target = getRenderTarget(row.route);
  const sent = part && target && { text: part.text, target, turnId: row.turnId };
  return {
    id: `o${row.seq}`,
    direction: 'out',
    at: row.at,
    from: null,
    text: part?.plain ?? '',
    files:
      file === undefined ? [] : [{ kind: file.kind, name: file.name, isKept: Boolean(row.isKept) }],
    trigger: null,
    state: row.state,
    error: row.error,
    writtenBy:
      row.writtenBy === null || row.writtenAs === null
        ? null
        : { name: row.writtenBy, as: row.writtenAs },
    history: row.history,
    why: row.turnId,
    ...(sent && { sent }),
  };
}

interface InboundRow {
  readonly direction: 'in';
  readonly seq: number;
  readonly at: number;
  readonly message: string;
  readonly state: 'waiting' | 'claimed' | 'done';
  readonly outcome: InboxOutcome | null;
  readonly channel: string;
  readonly account: string;
  readonly chatId: string;
  readonly messageId: string;
  readonly history: HistoryState;
}

interface OutboundRow {
  readonly direction: 'out';
  readonly seq: number;
  readonly at: number;
  readonly body: string;
  readonly route: string;
  readonly state: PartState;
  readonly error: string | null;
  readonly turnId: string | null;
  readonly writtenBy: string | null;
  readonly writtenAs: 'agent' | 'self' | null;
  /** A number on SQLite, which has no boolean type. */
  readonly isKept: boolean | number;
  readonly history: HistoryState;
}

const RECEIVED_MESSAGES = defineStatement(`
  select 'in' as direction, seq, received_at as at, message, state, outcome, channel, account,
    chat_id as "chatId", message_id as "messageId", 
    case when coalesce(outcome, '') <> 'replaced'
      then ${selectHistoryState('inbox.turn_id', ':conversationId')} end as history
  from inbox where conversation_id = :conversationId and seq < :before and seq > :after
    and received_at <= :until
  order by seq desc limit :limit`).rows<InboundRow>();

const THREAD = `coalesce(/*pg cast(*/route/*pg  as json)*/ ->> 'threadId', '')`;

const SENT = defineStatement(`
  select 'out' as direction, outbox.seq, outbox.created_at as at, body, route, outbox.state, error,
    turn_id as "turnId", written_by as "writtenBy", written_as as "writtenAs",
    exists (select 1 from agent_file where agent_file.part_id = outbox.id
      and (agent_file.bytes is not null or agent_file.file_id is not null)) as "isKept",
    ${selectHistoryState('outbox.turn_id', ':conversationId')} as history
  from outbox left join turn on turn.id = outbox.turn_id
  where channel = :channel and account = :account and chat_id = :chatId
    and seq < :before and seq > :after and created_at <= :until and ${THREAD} = :thread
  order by seq desc limit :limit`).rows<OutboundRow>();

/**
 * The numbers of the last message and part that were deleted with the conversation; 0 if it was
 * never deleted.
 */
const DELETED = defineStatement(`
  select coalesce(deleted_message, 0) as message, coalesce(deleted_part, 0) as part
  from conversation where id = :conversationId`).rows<{
  readonly message: number;
  readonly part: number;
}>();

const NOTHING_DELETED = { message: 0, part: 0 } as const;

const PLACES = defineStatement(`
  select distinct channel, account, chat_id as "chatId", route from (
    select channel, account, chat_id, route from inbox
    where conversation_id = :conversationId and seq < :before order by seq desc limit :newest) as lately`).rows<{
  readonly channel: string;
  readonly account: string;
  readonly chatId: string;
  readonly route: string;
}>();

// Parsed leniently, because a damaged row must not break a conversation view or a search.
const Said = InboundMessage.pick({
  text: true,
  typed: true,
  chat: true,
  sender: true,
  attachments: true,
  trigger: true,
});

/** The displayed fields of an inbound message. */
export type InboundMessageFields = z.infer<typeof Said>;

const Part = z.object({
  plain: RenderedPart.shape.plain,
  text: RenderedPart.shape.text.default(''),
  file: PartExtras.shape.file,
});

/** Parses a stored message; null if it is invalid. */
export function parseInboundMessage(stored: string): InboundMessageFields | null {
  return z.object(Said.shape).safeParse(parseStoredJson(stored)).data ?? null;
}

/** Parses a stored part: its text without markup, and its file. */
export function parseOutboundPart(stored: string): z.infer<typeof Part> | null {
  return Part.safeParse(parseStoredJson(stored)).data ?? null;
}

/** Reads the thread from a route; empty if the route has none. */
export function getThread(route: string): string {
  return z.object(ReplyRoute.shape).safeParse(parseStoredJson(route)).data?.threadId ?? '';
}

function getRenderTarget(route: string): RenderTarget | undefined {
  return z.object(ReplyRoute.shape).safeParse(parseStoredJson(route)).data?.target;
}

/**
 * Reads the text written by a person; null for messages that Parley itself put into a conversation.
 */
export function getMessageText(stored: string): string | null {
  const said = parseInboundMessage(stored);
  return said === null || said.trigger !== undefined ? null : (said.typed ?? said.text);
}

export function getPartText(stored: string): string | null {
  return parseOutboundPart(stored)?.plain ?? null;
}

function parseStoredJson(text: string): unknown {
  try {
    return decodeJson(text);
  } catch {
    return null;
  }
}
