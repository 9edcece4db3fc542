import type { MessageName, WhyAnswer } from '@parley/contracts';
import { StepFacts } from '@parley/contracts/timeline';
import type { Selectable } from 'kysely';
import { readApprovalRow } from '../approvals.ts';
import type { Sql } from '../database.ts';
import { INBOX_COLUMNS, type InboxTable, readInboxRow } from '../inbox-rows.ts';
import { fromJson } from '../json-column.ts';
import { HEARTBEAT_LANE, RUNNING } from '../literals.ts';
import type { ChatKey } from '../outbox-parts.ts';
import { readRetries } from '../outbox-parts.ts';
import type { InboxRow } from '../rows.ts';
import { StoreError } from '../store-error.ts';
import { readRuns } from '../turns.ts';
import type { WhyQuestion } from '../why.ts';
import { type FoundMessage, findMessages, isSame, newestMessages } from './find-message.ts';
import type {
  MessageFacts,
  PartFacts,
  PromptFacts,
  TakenFacts,
  TimedStep,
  TurnFacts,
} from './message-facts.ts';
import { timelineOf } from './timeline.ts';

/** What became of the one message that is meant; `unknown` and `several` where it is not one. */
export async function answerWhy(sql: Sql, question: WhyQuestion, now: number): Promise<WhyAnswer> {
  const found = await findMessages(sql, question);
  const [message, another] = found;
  if (message === undefined) return { kind: 'unknown' };
  if (another !== undefined) return { kind: 'several', candidates: found.map(nameOf) };
  const facts = await readMessage(sql, message);
  if (question.chat !== undefined && !isOfChat(facts, question.chat)) return { kind: 'unknown' };
  return { kind: 'found', timeline: timelineOf(facts, now) };
}

/** The newest messages of all chats. */
export async function recentNames(sql: Sql, limit: number): Promise<readonly MessageName[]> {
  return (await newestMessages(sql, limit)).map(nameOf);
}

function nameOf({ table: _table, seq: _seq, ...name }: FoundMessage): MessageName {
  return name;
}

/** What Parley does on its own is a chat's business only as far as the chat was told of it. */
function isOfChat({ fate }: MessageFacts, chat: ChatKey): boolean {
  if (fate.kind === 'not-taken' || fate.occasion === null || fate.occasion === 'cron') return true;
  return isSame(fate.answeredIn, chat) && fate.parts.some(({ isHere }) => isHere);
}

/** Reads all that the rows tell of a message. */
async function readMessage(sql: Sql, found: FoundMessage): Promise<MessageFacts> {
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

/** The parts that a turn, or else the command itself, has put into the outbox. */
async function readParts(
  sql: Sql,
  { turnId, seq }: { readonly turnId: string | null; readonly seq: number },
  here: ChatKey,
): Promise<readonly PartFacts[]> {
  const parts = sql
    .selectFrom('outbox')
    .select(['outbox.id', 'channel', 'account', 'chat_id', 'part_index', 'state', 'attempts'])
    .select(['created_at', 'not_before', 'tried_at', 'sending_at', 'sent_at'])
    .select(['platform_message_id', 'error', 'retries'])
    .select((eb) =>
      // The newest word on it: what was replayed may have died again.
      eb
        .selectFrom('dead_letter')
        .select('settled')
        .whereRef('dead_letter.subject', '=', 'outbox.id')
        .orderBy('dead_letter.seq', 'desc')
        .limit(1)
        .as('settled'),
    )
    .orderBy('outbox.seq');
  const rows = await (turnId === null
    ? parts.where('answers', '=', seq)
    : parts.where('turn_id', '=', turnId)
  ).execute();
  return rows.map((row) => ({
    id: row.id,
    index: row.part_index,
    isHere: isSame({ channel: row.channel, account: row.account, chatId: row.chat_id }, here),
    state: row.state,
    attempts: row.attempts,
    createdAt: row.created_at,
    notBefore: row.not_before,
    triedAt: row.tried_at,
    sendingAt: row.sending_at,
    sentAt: row.sent_at,
    platformId: row.platform_message_id,
    error: row.error,
    retries: readRetries(row.retries),
    settled: row.settled,
  }));
}

/** Reads what the rows tell of a turn; null when there is none. */
async function readTurn(sql: Sql, turnId: string): Promise<TurnFacts | null> {
  const row = await sql
    .selectFrom('turn')
    .innerJoin('conversation', 'conversation.id', 'turn.conversation_id')
    .select(['turn.state', 'reason', 'attempts', 'awaits', 'started_at', 'finished_at', 'runs'])
    .select('lease_owner')
    .where('turn.id', '=', turnId)
    .executeTakeFirst();
  if (row === undefined) return null;
  const approvals = await sql
    .selectFrom('approval')
    .selectAll()
    .where('turn_id', '=', turnId)
    .orderBy('seq')
    .execute();
  return {
    turnId,
    state: row.state,
    reason: row.reason,
    attempts: row.attempts,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    isSuspended: row.awaits !== null,
    worker: row.lease_owner,
    runs: readRuns(row.runs),
    prompt: await promptOf(sql, turnId),
    steps: await stepsOf(sql, turnId),
    approvals: approvals.map(readApprovalRow),
  };
}

async function promptOf(sql: Sql, turnId: string): Promise<PromptFacts | null> {
  const row = await sql
    .selectFrom('turn_prompt')
    .select(['created_at', 'layout', 'characters', 'tokens', 'parts'])
    .where('turn_id', '=', turnId)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { created_at: at, layout, characters, tokens } = row;
  const parts = fromJson(row.parts);
  return { at, layout, layers: Array.isArray(parts) ? parts.length : 0, characters, tokens };
}

/** Steps of an older version tell nothing of themselves. */
async function stepsOf(sql: Sql, turnId: string): Promise<readonly TimedStep[]> {
  const rows = await sql
    .selectFrom('turn_step')
    .select(['created_at', 'started_at', 'facts'])
    .where('turn_id', '=', turnId)
    .orderBy('step_index')
    .execute();
  return rows.flatMap(({ created_at: endedAt, started_at: startedAt, facts }) => {
    const parsed = facts === null ? null : StepFacts.safeParse(fromJson(facts));
    return parsed?.success ? [{ startedAt, endedAt, facts: parsed.data }] : [];
  });
}
