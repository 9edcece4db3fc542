import { lockConversation } from './conversations.ts';
import { type Sql, statement } from './database.ts';
import type {
  DeadLetter,
  DeadLetterReplay,
  DeadLetterWake,
  Resend,
  SettledDeadLetter,
} from './dead-letters.ts';
import { INBOX_COLUMNS, type MessageRow, readInboxRow } from './inbox-rows.ts';
import { type ChatKey, OF_CHAT } from './outbox-parts.ts';

interface Replay {
  readonly id: number;
  readonly how: 'once' | 'even-twice';
  readonly now: number;
}

/** A dead letter; `subject` is the id of a part or of a turn. */
export interface DeadLetterRow {
  readonly seq: number;
  readonly kind: DeadLetter['kind'];
  readonly subject: string;
  readonly died_at: number;
  readonly settled: SettledDeadLetter['how'] | null;
  readonly settled_at: number | null;
}

/** One dead letter, open or settled. */
export const DEAD_LETTER = statement(
  'select * from dead_letter where seq = :id',
).rows<DeadLetterRow>();

/** Tries the work of a dead letter again, at most once however often it is called. */
export async function replayDeadLetter(
  sql: Sql,
  { id, how, now }: Replay,
): Promise<DeadLetterReplay> {
  const letter = await sql.get(DEAD_LETTER, { id });
  if (letter === undefined) return { kind: 'missing' };
  if (letter.settled === null && letter.kind === 'uncertain' && how === 'once') {
    return { kind: 'uncertain' };
  }
  const wake =
    letter.kind === 'unanswered'
      ? await askAgain(sql, letter, now)
      : await sendAgain(sql, letter, now);
  return wake === null ? { kind: 'settled' } : { kind: 'replayed', wake };
}

/**
 * Sends a part of this chat again that may have arrived, at most once for each time its fate is unknown. The
 * caller has locked the conversation.
 */
export async function resendUncertain(
  sql: Sql,
  { channel, account, chatId }: ChatKey,
  { key, senderId }: { readonly key: string | null; readonly senderId?: string },
  now: number,
): Promise<Resend> {
  const letter = await sql.get(UNCERTAIN, { channel, account, chatId, key });
  if (letter === undefined) return 'none';
  if (letter.settled !== null) return 'settled';
  if (senderId !== undefined && !(await isAnswerTo(sql, letter, senderId))) return 'others';
  return (await sendAgain(sql, letter, now)) === null ? 'settled' : 'resent';
}

const UNCERTAIN = statement(`
  select dead_letter.*, outbox.turn_id, outbox.answers
  from dead_letter join outbox on outbox.id = dead_letter.subject
  where kind = 'uncertain' and ${OF_CHAT} and (idempotency_key = :key or :key is null)
  order by dead_letter.seq desc limit 1`).rows<DeadLetterRow & Answering>();

/** What a part answers: the messages of a turn, or one by its `seq`. */
interface Answering {
  readonly turn_id: string | null;
  readonly answers: number | null;
}

const ANSWERED = statement(`
  select ${INBOX_COLUMNS} from inbox where turn_id = :turnId or seq = :answers`).rows<MessageRow>();

/** Whether this person wrote one of the messages that a part answers. */
async function isAnswerTo(
  sql: Sql,
  { turn_id: turnId, answers }: Answering,
  senderId: string,
): Promise<boolean> {
  const rows = await sql.all(ANSWERED, { turnId, answers });
  return rows.some((row) => readInboxRow(row).message.sender.id === senderId);
}

/** Settles a dead letter and does nothing else. */
export async function dropDeadLetter(
  sql: Sql,
  id: number,
  now: number,
): Promise<'dropped' | 'settled' | 'missing'> {
  if (await settleDeadLetter(sql, id, 'dropped', now)) return 'dropped';
  return (await sql.get(DEAD_LETTER, { id })) === undefined ? 'missing' : 'settled';
}

/** The process that changes the row has the dead letter; false: another had it before. */
async function settleDeadLetter(
  sql: Sql,
  id: number,
  how: SettledDeadLetter['how'],
  now: number,
): Promise<boolean> {
  return (await sql.run(SETTLE, { id, how, now })) > 0;
}

const SETTLE = statement(`
  update dead_letter set settled = :how, settled_at = :now where seq = :id and settled is null`);

/** The part keeps its row and its key; only its place in the order is a new one. */
async function sendAgain(
  sql: Sql,
  { seq: id, subject }: DeadLetterRow,
  now: number,
): Promise<DeadLetterWake | null> {
  if (!(await settleDeadLetter(sql, id, 'replayed', now))) return null;
  const chat = await sql.get(SEND_AGAIN, { subject, now });
  if (chat === undefined) throw new Error(`Part ${subject} of dead letter ${id} has not failed.`);
  return { kind: 'chat', chat };
}

// States are written out, because a partial index serves only what names its condition.
const UNDELIVERED = "state in ('failed', 'unknown')";

// `seq` comes first: SQLite takes an update that begins with a state for a part on its way, which does not
// change the history that the process remembers (`sqlite-sql.ts`).
const SEND_AGAIN = statement(`
  update outbox set
    seq = /*sqlite (select max(seq) + 1 from outbox)*//*pg nextval(pg_get_serial_sequence('outbox', 'seq'))*/,
    state = 'pending', attempts = 0, not_before = :now, updated_at = :now
  where id = :subject and ${UNDELIVERED}
  returning channel, account, chat_id as "chatId"`).rows<ChatKey>();

/** The messages wait again, in their old place: before messages written since. */
async function askAgain(
  sql: Sql,
  { seq: id, subject: turnId }: DeadLetterRow,
  now: number,
): Promise<DeadLetterWake | null> {
  const turn = await sql.get(LANE, { turnId });
  if (turn === undefined)
    throw new Error(`Dead letter ${id} is about turn ${turnId}, which is gone.`);
  const { conversationId, session } = turn;
  await lockConversation(sql, conversationId);
  if (!(await settleDeadLetter(sql, id, 'replayed', now))) return null;
  sql.send(WAIT_AGAIN, { turnId });
  // Else the model would read the question twice.
  sql.send(UNASK, { conversationId, session, turnId });
  // A notice about the missing answer is obsolete, if it did not arrive either.
  sql.send(DROP_EXCUSES, { turnId, now });
  return { kind: 'conversation', conversationId };
}

const LANE = statement(
  'select conversation_id as "conversationId", session from turn where id = :turnId',
).rows<{ readonly conversationId: string; readonly session: number }>();

const WAIT_AGAIN = statement(`
  update inbox set state = 'waiting', turn_id = null, outcome = null, settles_at = null
  where turn_id = :turnId`);

const UNASK = statement(`
  delete from transcript
  where conversation_id = :conversationId and session = :session and turn_id = :turnId`);

const DROP_EXCUSES = statement(`
  update dead_letter set settled = 'dropped', settled_at = :now
  where settled is null and subject in (select id from outbox
    where turn_id = :turnId and part_index is not null and ${UNDELIVERED})`);
