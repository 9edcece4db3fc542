import type { Selectable } from 'kysely';
import type { Sql } from '../database.ts';
import { HEARTBEAT_LANE } from '../heartbeats.ts';
import { INBOX_COLUMNS, readInboxRow } from '../repositories/inbox-row.ts';
import { RUNNING } from '../repositories/literals.ts';
import type { InboxRow } from '../rows.ts';
import { StoreError } from '../store-error.ts';
import type { InboxTable } from '../tables/inbound-tables.ts';
import type { FoundMessage } from './find-message.ts';
import type { MessageFacts, TakenFacts } from './message-facts.ts';
import { readParts } from './read-parts.ts';
import { readTurn } from './read-turn.ts';

/** Reads all that the rows tell of a message. */
export async function readMessage(sql: Sql, found: FoundMessage): Promise<MessageFacts> {
  return found.table === 'decision' ? readDecision(sql, found) : readTaken(sql, found);
}

function placeOf({ channel, account, chatId, messageId }: FoundMessage): MessageFacts['place'] {
  return { channel, account, chatId, messageId };
}

async function readDecision(sql: Sql, found: FoundMessage): Promise<MessageFacts> {
  const row = await sql
    .selectFrom('decision')
    .select(['outcome', 'reason', 'decided_at', 'sent_at'])
    .where('seq', '=', found.seq)
    .executeTakeFirst();
  if (row === undefined) throw gone(found);
  const { outcome, reason, decided_at: receivedAt, sent_at: sentAt } = row;
  const fate = { kind: 'not-taken', outcome } as const;
  return { place: placeOf(found), receivedAt, sentAt, reason, fate };
}

/** Only the oldest of 10,000 is ever dropped, between two reads of one question. */
function gone({ messageId }: FoundMessage): StoreError {
  return new StoreError('store-failed', `Message ${messageId} was dropped just now. Ask again.`);
}

const COLUMNS = [
  ...INBOX_COLUMNS,
  'reason',
  'state',
  'outcome',
  'turn_id',
  'repeats',
  'interruptions',
  'claimed_at',
  'done_at',
] as const;

type Row = Pick<Selectable<InboxTable>, (typeof COLUMNS)[number]>;

async function readTaken(sql: Sql, found: FoundMessage): Promise<MessageFacts> {
  const row = await sql
    .selectFrom('inbox')
    .select(COLUMNS)
    .where('seq', '=', found.seq)
    .executeTakeFirst();
  if (row === undefined) throw gone(found);
  const read = readInboxRow(row);
  const { message } = read;
  const fate = { kind: 'taken', ...(await takenFacts(sql, found, row, read)) } as const;
  const sentAt = message.occasion === undefined ? message.sentAt : null;
  const { received_at: receivedAt, reason } = row;
  return { place: placeOf(found), receivedAt, sentAt, reason, fate };
}

async function takenFacts(
  sql: Sql,
  found: FoundMessage,
  row: Row,
  { message, route }: Pick<InboxRow, 'message' | 'route'>,
): Promise<TakenFacts> {
  const { conversation_id: conversationId, turn_id: turnId } = row;
  const { channel, account, chatId } = route;
  const answeredIn = { channel, account, chatId };
  return {
    conversationId,
    answeredIn,
    occasion: message.occasion ?? null,
    state: row.state,
    outcome: row.outcome,
    repeats: row.repeats,
    interruptions: row.interruptions,
    settlesAt: row.settles_at,
    claimedAt: row.claimed_at,
    doneAt: row.done_at,
    files: message.attachments === undefined ? [] : await filesOf(sql, found.seq),
    before: row.state === 'waiting' ? await turnBefore(sql, conversationId) : null,
    beat: conversationId.startsWith(HEARTBEAT_LANE) ? await beatOf(sql, found.messageId) : null,
    cronJob: message.occasion === 'cron' ? await jobOf(sql, row, found) : null,
    turn: turnId === null ? null : await readTurn(sql, turnId),
    parts: await readParts(sql, { turnId, seq: found.seq }, answeredIn),
  };
}

/** Kinds and states alone: names were chosen by people. */
async function filesOf(sql: Sql, seq: number): Promise<readonly string[]> {
  const rows = await sql
    .selectFrom('attachment')
    .select(['kind', 'state'])
    .where('inbox_seq', '=', seq)
    .orderBy('attachment_index')
    .execute();
  return rows.map(({ kind, state }) => `${kind} ${state}`);
}

async function turnBefore(sql: Sql, conversationId: string): Promise<TakenFacts['before']> {
  const row = await sql
    .selectFrom('turn')
    .select(['id', 'started_at', 'awaits'])
    .where('conversation_id', '=', conversationId)
    .where('state', '=', RUNNING)
    .executeTakeFirst();
  if (row === undefined) return null;
  return { turnId: row.id, startedAt: row.started_at, isSuspended: row.awaits !== null };
}

async function beatOf(sql: Sql, runId: string): Promise<TakenFacts['beat']> {
  const row = await sql
    .selectFrom('beat')
    .select(['task', 'state', 'reason'])
    .where('id', '=', runId)
    .executeTakeFirst();
  return row ?? null;
}

/** Of a job only its last message is known; what the job is called, people wrote. */
async function jobOf(
  sql: Sql,
  { conversation_id }: Row,
  { messageId }: FoundMessage,
): Promise<string | null> {
  const row = await sql
    .selectFrom('cron_job')
    .select('id')
    .where('conversation_id', '=', conversation_id)
    .where('last_message', '=', messageId)
    .executeTakeFirst();
  return row?.id ?? null;
}
