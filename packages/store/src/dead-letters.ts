import { getConversationAgent } from '@parley/core';
import type { ChatKey } from './conversations.ts';
import {
  HEARTBEAT_LANE,
  isLane,
  lockConversation,
  OF_CHAT,
  SUB_AGENT_LANE,
} from './conversations.ts';
import { type Database, defineStatement, type Sql } from './database.ts';
import {
  DEAD_LETTER,
  type DeadLetter,
  type DeadLetterPage,
  type DeadLetterRow,
  type SettledDeadLetter,
} from './dead-letter-rows.ts';
import { OUTBOX_COLUMNS, type PartRow, readPart } from './outbox-parts.ts';
import type { AnsweredChat } from './own-answers.ts';
import { INBOX_COLUMNS, type MessageRow, readInboxRow } from './rows.ts';

/**
 * The outcome of a replay. `wake`: the lane or chat that has work to do again. `uncertain`: the
 * part was not resent, because it might be delivered twice. `settled`: the dead letter was already
 * replayed or dropped.
 */
type DeadLetterReplay =
  | { readonly kind: 'replayed'; readonly wake: DeadLetterWake }
  | { readonly kind: 'uncertain' | 'settled' | 'missing' };

/**
 * The outcome of `/resend`. `settled`: the part was already resent or dropped. `others`: the part
 * answers another person.
 */
export type ResendResult = 'resent' | 'settled' | 'others' | 'none';

/** The chat or conversation that has work to do again. */
export type DeadLetterWake =
  | { readonly kind: 'chat'; readonly chat: ChatKey }
  | { readonly kind: 'conversation'; readonly conversationId: string };

/**
 * Dead letters, stored in the `dead_letter` table. Dead letters are written by the transaction that
 * gives up the work and are settled by operators.
 */
export function createDeadLetterRepository(database: Database) {
  const looking = () => import('./read-dead-letters.ts');
  return {
    /** Lists the newest `limit` open dead letters older than `before`, newest first. */
    async open(page: DeadLetterPage) {
      const { listOpenDeadLetters } = await looking();
      return database.read((sql) => listOpenDeadLetters(sql, page));
    },
    /**
     * Lists the ids of the oldest `limit` open dead letters of these kinds whose number is greater
     * than `after`, oldest first.
     */
    async openIds(kinds: readonly DeadLetter['kind'][], after: number, limit: number) {
      const { listOpenDeadLetterIds } = await looking();
      return database.read((sql) => listOpenDeadLetterIds(sql, kinds, after, limit));
    },
    /** Reads one dead letter, open or settled. */
    async get(id: number) {
      const { findDeadLetter } = await looking();
      return database.read((sql) => findDeadLetter(sql, id));
    },
    /** Counts open dead letters by kind. */
    async counts() {
      const { countOpenDeadLetters } = await looking();
      return database.read(countOpenDeadLetters);
    },
    /**
     * Retries a dead letter's work. A part is queued behind the other parts for its chat under its
     * old key, so that a platform with idempotency keys recognizes it. A part that may have been
     * delivered is resent only with `even-twice`, by which a person accepts a duplicate. Unanswered
     * messages return to their old position and wait for a new turn, and their earlier turn is
     * removed from the history.
     */
    replay: (id: number, how: 'once' | 'even-twice', now: number) =>
      database.write((sql) => replayDeadLetter(sql, { id, how, now })),
    /** Settles a dead letter without retrying its work, which remains failed. */
    drop: (id: number, now: number) => database.write((sql) => dropDeadLetter(sql, id, now)),
  };
}

// Does not add a second dead letter when the call is repeated because its result was lost.
const RECORD = defineStatement(`
  insert into dead_letter (kind, subject, died_at) values (:kind, :subject, :now)
  on conflict do nothing`);

/**
 * Neither a notice about another part nor a part whose text was removed while it was being sent
 * becomes a dead letter.
 */
const RECORD_PART = defineStatement(`
  insert into dead_letter (kind, subject, died_at)
  select :kind, id, :now from outbox where id = :partId and notice_of is null
    and (changed is null or changed <> 'deleted')
  on conflict do nothing`);

/** Records a part that is given up, in the caller's transaction. */
export function recordDeadPart(
  sql: Sql,
  partId: string,
  state: 'failed' | 'unknown',
  now: number,
): void {
  sql.send(RECORD_PART, { partId, kind: state === 'failed' ? 'refused' : 'uncertain', now });
}

/** Records a failed turn in the caller's transaction, unless nobody is waiting for its answer. */
export function recordDeadTurn(
  sql: Sql,
  conversationId: string,
  turnId: string,
  now: number,
): void {
  if (isLane(conversationId, SUB_AGENT_LANE, HEARTBEAT_LANE)) return;
  sql.send(RECORD, { kind: 'unanswered', subject: turnId, now });
}

interface ReplayRequest {
  readonly id: number;
  readonly how: 'once' | 'even-twice';
  readonly now: number;
}

/** Retries a dead letter's work at most once, even if called repeatedly. */
async function replayDeadLetter(
  sql: Sql,
  { id, how, now }: ReplayRequest,
): Promise<DeadLetterReplay> {
  const letter = await sql.get(DEAD_LETTER, { id });
  if (letter === undefined) return { kind: 'missing' };
  if (letter.settled === null && letter.kind === 'uncertain' && how === 'once') {
    return { kind: 'uncertain' };
  }
  const wake =
    letter.kind === 'unanswered'
      ? await requeueMessages(sql, letter, now)
      : await resendPart(sql, letter, now);
  return wake === null ? { kind: 'settled' } : { kind: 'replayed', wake };
}

/**
 * Resends a part that may have been delivered, at most once for each time that its outcome became
 * unknown. Considers only parts from the same agent, chat and topic; the caller has locked the
 * conversation.
 */
export async function resendUncertainPart(
  sql: Sql,
  { conversationId, route: { channel, account, chatId, threadId } }: AnsweredChat,
  { key, senderId }: { readonly key: string | null; readonly senderId?: string },
  now: number,
): Promise<ResendResult> {
  const agent = getConversationAgent(conversationId);
  const chat = { channel, account, chatId };
  const letters = await sql.all(UNCERTAIN, { ...chat, key });
  const letter = letters.find(
    (one) =>
      readPart(one).route.threadId === threadId &&
      (one.conversationId === null || getConversationAgent(one.conversationId) === agent),
  );
  if (letter === undefined) return 'none';
  if (letter.settled !== null) return 'settled';
  if (senderId !== undefined && !(await isAnswerTo(sql, letter, senderId))) return 'others';
  return (await resendPart(sql, letter, now)) === null ? 'settled' : 'resent';
}

/** How many of a chat's uncertain parts are searched for one from the right agent and topic. */
const LOOKED_AT = 100;

const UNCERTAIN = defineStatement(`
  select dead_letter.*, ${OUTBOX_COLUMNS}, outbox.turn_id as "turnId", outbox.answers,
    coalesce((select conversation_id from turn where turn.id = outbox.turn_id),
      (select conversation_id from inbox where inbox.seq = outbox.answers)) as "conversationId"
  from dead_letter join outbox on outbox.id = dead_letter.subject
  where kind = 'uncertain' and ${OF_CHAT} and (idempotency_key = :key or :key is null)
  order by dead_letter.seq desc limit ${LOOKED_AT}`).rows<
  DeadLetterRow & AnswerOrigin & PartRow & { readonly conversationId: string | null }
>();

/** What a part answers: the messages of a turn, or one message with this `seq`. */
interface AnswerOrigin {
  readonly turnId: string | null;
  readonly answers: number | null;
}

const ANSWERED = defineStatement(`
  select ${INBOX_COLUMNS} from inbox where turn_id = :turnId or seq = :answers`).rows<MessageRow>();

/** Whether this person wrote one of the messages that a part answers. */
async function isAnswerTo(sql: Sql, answering: AnswerOrigin, senderId: string): Promise<boolean> {
  const rows = await sql.all(ANSWERED, answering);
  return rows.some((row) => readInboxRow(row).message.sender.id === senderId);
}

/** Settles a dead letter without retrying it. */
async function dropDeadLetter(
  sql: Sql,
  id: number,
  now: number,
): Promise<'dropped' | 'settled' | 'missing'> {
  if (await settleDeadLetter(sql, id, 'dropped', now)) return 'dropped';
  return (await sql.get(DEAD_LETTER, { id })) === undefined ? 'missing' : 'settled';
}

/** The process that updates the row settles the dead letter; false if another process was first. */
async function settleDeadLetter(
  sql: Sql,
  id: number,
  how: SettledDeadLetter['how'],
  now: number,
): Promise<boolean> {
  return (await sql.run(SETTLE, { id, how, now })) > 0;
}

const SETTLE = defineStatement(`
  update dead_letter set settled = :how, settled_at = :now where seq = :id and settled is null`);

/** Resends a part under its existing row and key, at a new position in the order. */
async function resendPart(
  sql: Sql,
  { seq: id, subject }: DeadLetterRow,
  now: number,
): Promise<DeadLetterWake | null> {
  if (!(await settleDeadLetter(sql, id, 'replayed', now))) return null;
  const chat = await sql.get(RESEND_PART, { subject, now });
  if (chat === undefined) throw new Error(`Part ${subject} of dead letter ${id} has not failed.`);
  return { kind: 'chat', chat };
}

// States are literals, because a partial index is used only if the query contains the index
// condition.
const UNDELIVERED = "state in ('failed', 'unknown')";

// `seq` must be the first column set. The SQLite driver treats an update that starts with `state`
// as a delivery in progress, which leaves the cached history valid (`open-sqlite.ts`).
const RESEND_PART = defineStatement(`
  update outbox set
    seq = /*sqlite (select max(seq) + 1 from outbox)*//*pg nextval(pg_get_serial_sequence('outbox', 'seq'))*/,
    state = 'pending', attempts = 0, not_before = :now, updated_at = :now
  where id = :subject and ${UNDELIVERED}
  returning channel, account, chat_id as "chatId"`).rows<ChatKey>();

/** Returns unanswered messages to their old position, ahead of newer ones. */
async function requeueMessages(
  sql: Sql,
  { seq: id, subject: turnId }: DeadLetterRow,
  now: number,
): Promise<DeadLetterWake | null> {
  const turn = await sql.get(LANE, { turnId });
  if (turn === undefined)
    throw new Error(`Dead letter ${id} is about turn ${turnId}, which no longer exists.`);
  const { conversationId } = turn;
  await lockConversation(sql, conversationId);
  if (!(await settleDeadLetter(sql, id, 'replayed', now))) return null;
  sql.send(RETURN_MESSAGES_TO_INBOX, { turnId });
  // Otherwise, the model would read the question twice.
  sql.send(UNASK, { ...turn, turnId });
  // An undelivered notice about the missing answer is obsolete.
  sql.send(DROP_EXCUSES, { turnId, now });
  return { kind: 'conversation', conversationId };
}

const LANE = defineStatement(
  'select conversation_id as "conversationId", session from turn where id = :turnId',
).rows<{ readonly conversationId: string; readonly session: number }>();

const RETURN_MESSAGES_TO_INBOX = defineStatement(`
  update inbox set state = 'waiting', turn_id = null, outcome = null, settles_at = null
  where turn_id = :turnId`);

const UNASK = defineStatement(`
  delete from transcript
  where conversation_id = :conversationId and session = :session and turn_id = :turnId`);

const DROP_EXCUSES = defineStatement(`
  update dead_letter set settled = 'dropped', settled_at = :now
  where settled is null and subject in (select id from outbox
    where turn_id = :turnId and part_index is not null and ${UNDELIVERED})`);
