import type { Selectable } from 'kysely';
import { lockConversation } from './conversations.ts';
import type { Database, Sql } from './database.ts';
import type {
  DeadLetterTable,
  LetterReplay,
  LetterWake,
  Resend,
  SettledLetter,
} from './dead-letters.ts';
import { INBOX_COLUMNS, readInboxRow } from './inbox-rows.ts';
import { raw } from './kysely.ts';
import { UNDELIVERED } from './literals.ts';
import type { ChatKey } from './outbox-parts.ts';

interface Replay {
  readonly id: number;
  readonly how: 'once' | 'even-twice';
  readonly now: number;
}

/** Has done again what a letter is about, at most once however often it is asked. */
export async function replayLetter(
  database: Database,
  sql: Sql,
  { id, how, now }: Replay,
): Promise<LetterReplay> {
  const letter = await letterRow(sql, id);
  if (letter === undefined) return { kind: 'missing' };
  if (letter.settled === null && letter.kind === 'uncertain' && how === 'once') {
    return { kind: 'uncertain' };
  }
  const wake =
    letter.kind === 'unanswered'
      ? await askAgain(sql, letter, now)
      : await sendAgain(database, sql, letter, now);
  return wake === null ? { kind: 'settled' } : { kind: 'replayed', wake };
}

/**
 * Sends a part of this chat again that may have arrived, at most once for each time its fate is unknown. The
 * caller has locked the conversation.
 */
export async function resendUncertain(
  database: Database,
  sql: Sql,
  { channel, account, chatId }: ChatKey,
  { key, senderId }: { readonly key: string | null; readonly senderId?: string },
  now: number,
): Promise<Resend> {
  const letter = await sql
    .selectFrom('dead_letter')
    .innerJoin('outbox', 'outbox.id', 'dead_letter.subject')
    .selectAll('dead_letter')
    .select(['outbox.turn_id', 'outbox.answers'])
    .where('dead_letter.kind', '=', 'uncertain')
    .where('outbox.channel', '=', channel)
    .where('outbox.account', '=', account)
    .where('outbox.chat_id', '=', chatId)
    .$if(key !== null, (letters) => letters.where('outbox.idempotency_key', '=', key ?? ''))
    .orderBy('dead_letter.seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (letter === undefined) return 'none';
  if (letter.settled !== null) return 'settled';
  if (senderId !== undefined && !(await isAnswerTo(sql, letter, senderId))) return 'others';
  return (await sendAgain(database, sql, letter, now)) === null ? 'settled' : 'resent';
}

/** Whether somebody wrote one of the messages that a part answers. */
async function isAnswerTo(
  sql: Sql,
  {
    turn_id: turnId,
    answers,
  }: { readonly turn_id: string | null; readonly answers: number | null },
  senderId: string,
): Promise<boolean> {
  const rows = await sql
    .selectFrom('inbox')
    .select(INBOX_COLUMNS)
    .where((eb) => eb.or([eb('turn_id', '=', turnId), eb('seq', '=', answers)]))
    .execute();
  return rows.some((row) => readInboxRow(row).message.sender.id === senderId);
}

/** Settles a letter and does nothing else. */
export async function dropLetter(
  sql: Sql,
  id: number,
  now: number,
): Promise<'dropped' | 'settled' | 'missing'> {
  if (await settleLetter(sql, id, 'dropped', now)) return 'dropped';
  return (await letterRow(sql, id)) === undefined ? 'missing' : 'settled';
}

async function letterRow(sql: Sql, id: number): Promise<Selectable<DeadLetterTable> | undefined> {
  return sql.selectFrom('dead_letter').selectAll().where('seq', '=', id).executeTakeFirst();
}

/** Whoever changes the row has the letter; false: somebody else had it before. */
async function settleLetter(
  sql: Sql,
  id: number,
  how: SettledLetter['how'],
  now: number,
): Promise<boolean> {
  const changed = await sql
    .updateTable('dead_letter')
    .set({ settled: how, settled_at: now })
    .where('seq', '=', id)
    .where('settled', 'is', null)
    .executeTakeFirst();
  return changed.numUpdatedRows > 0n;
}

/** The part keeps its row and its key; only its place in the order is a new one. */
async function sendAgain(
  { dialect }: Database,
  sql: Sql,
  { seq: id, subject }: Selectable<DeadLetterTable>,
  now: number,
): Promise<LetterWake | null> {
  if (!(await settleLetter(sql, id, 'replayed', now))) return null;
  const next =
    dialect === 'sqlite'
      ? raw<number>`(select max(seq) + 1 from outbox)`
      : raw<number>`nextval(pg_get_serial_sequence('outbox', 'seq'))`;
  const part = await sql
    .updateTable('outbox')
    .set({ state: 'pending', seq: next, attempts: 0, not_before: now, updated_at: now })
    .where('id', '=', subject)
    .where('state', 'in', UNDELIVERED)
    .returning(['channel', 'account', 'chat_id'])
    .executeTakeFirstOrThrow();
  const { channel, account, chat_id: chatId } = part;
  return { kind: 'chat', chat: { channel, account, chatId } };
}

/** The messages wait again, where they stood: before whatever was written since. */
async function askAgain(
  sql: Sql,
  { seq: id, subject: turnId }: Selectable<DeadLetterTable>,
  now: number,
): Promise<LetterWake | null> {
  const turn = await sql
    .selectFrom('turn')
    .select(['conversation_id', 'session'])
    .where('id', '=', turnId)
    .executeTakeFirstOrThrow();
  const { conversation_id: conversationId, session } = turn;
  await lockConversation(sql, conversationId);
  if (!(await settleLetter(sql, id, 'replayed', now))) return null;
  await sql
    .updateTable('inbox')
    .set({ state: 'waiting', turn_id: null, outcome: null, settles_at: null })
    .where('turn_id', '=', turnId)
    .where('turn_id', 'is not', null)
    .execute();
  // Else the model would read the question twice.
  await sql
    .deleteFrom('transcript')
    .where('conversation_id', '=', conversationId)
    .where('session', '=', session)
    .where('turn_id', '=', turnId)
    .execute();
  await dropExcuses(sql, turnId, now);
  return { kind: 'conversation', conversationId };
}

/** That there was no answer need not be told any more, if that did not arrive either. */
async function dropExcuses(sql: Sql, turnId: string, now: number): Promise<void> {
  const excuses = sql
    .selectFrom('outbox')
    .select('id')
    .where('turn_id', '=', turnId)
    .where('turn_id', 'is not', null)
    .where('part_index', 'is not', null)
    .where('state', 'in', UNDELIVERED);
  await sql
    .updateTable('dead_letter')
    .set({ settled: 'dropped', settled_at: now })
    .where('subject', 'in', excuses)
    .where('settled', 'is', null)
    .execute();
}
