import type { Selectable } from 'kysely';
import type { Sql } from './database.ts';
import type {
  DeadLetter,
  DeadLetterTable,
  DeadPart,
  DeadTurn,
  LetterPage,
  UnansweredMessage,
} from './dead-letters.ts';
import { INBOX_COLUMNS, readInboxRow } from './inbox-rows.ts';
import { OUTBOX_COLUMNS, readPart } from './outbox-parts.ts';

/** The newest letters that nobody has settled. */
export async function openLetters(
  sql: Sql,
  { before, limit }: LetterPage,
): Promise<readonly DeadLetter[]> {
  const newest = openRows(sql).selectAll().orderBy('seq', 'desc').limit(limit);
  const page = before === undefined ? newest : newest.where('seq', '<', before);
  return withSubjects(sql, await page.execute());
}

/** The oldest numbers of some kinds. */
export async function openIds(
  sql: Sql,
  kinds: readonly DeadLetter['kind'][],
  after: number,
  limit: number,
): Promise<readonly number[]> {
  const rows = await openRows(sql)
    .select('seq')
    .where('kind', 'in', kinds)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
  return rows.map(({ seq }) => seq);
}

/** One letter, settled or not. */
export async function oneLetter(sql: Sql, id: number): Promise<DeadLetter | null> {
  const rows = await sql.selectFrom('dead_letter').selectAll().where('seq', '=', id).execute();
  const [letter] = await withSubjects(sql, rows);
  return letter ?? null;
}

/** How many nobody has settled. */
export async function countOpen(sql: Sql): Promise<Readonly<Record<DeadLetter['kind'], number>>> {
  const rows = await openRows(sql)
    .select((eb) => ['kind', eb.fn.countAll<number>().as('count')])
    .groupBy('kind')
    .execute();
  const counts = { refused: 0, uncertain: 0, unanswered: 0 };
  for (const { kind, count } of rows) counts[kind] = count;
  return counts;
}

/** Served by `dead_letter_open`. */
function openRows(sql: Sql) {
  return sql.selectFrom('dead_letter').where('settled', 'is', null);
}

type Row = Selectable<DeadLetterTable>;

/** Rows with what they are about, in their order. */
async function withSubjects(sql: Sql, rows: readonly Row[]): Promise<readonly DeadLetter[]> {
  const isTurn = ({ kind }: Row) => kind === 'unanswered';
  const [turns, parts] = [rows.filter(isTurn), rows.filter((row) => !isTurn(row))];
  const letters = [...(await deadTurns(sql, turns)), ...(await deadParts(sql, parts))];
  const byId = new Map(letters.map((letter) => [letter.id, letter]));
  return rows.flatMap(({ seq }) => byId.get(seq) ?? []);
}

function common({ seq, died_at, settled, settled_at }: Row) {
  return {
    id: seq,
    diedAt: died_at,
    settled: settled === null ? null : { how: settled, at: settled_at ?? died_at },
  };
}

async function deadParts(sql: Sql, rows: readonly Row[]): Promise<readonly DeadPart[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ subject }) => subject);
  const found = await sql
    .selectFrom('outbox')
    .select([...OUTBOX_COLUMNS, 'channel', 'account', 'chat_id', 'state', 'error'])
    .where('id', 'in', ids)
    .execute();
  const byId = new Map(found.map((part) => [part.id, part]));
  return rows.flatMap((row): DeadPart[] => {
    const stored = byId.get(row.subject);
    if (stored === undefined || row.kind === 'unanswered') return [];
    const { channel, account, chat_id, turn_id, state, error } = stored;
    const { index, body, file } = readPart(stored);
    return [
      {
        ...common(row),
        kind: row.kind,
        partId: row.subject,
        chat: { channel, account, chatId: chat_id },
        turnId: turn_id,
        index,
        text: body.plain,
        file: file?.name ?? null,
        state,
        reason: error,
      },
    ];
  });
}

async function deadTurns(sql: Sql, rows: readonly Row[]): Promise<readonly DeadTurn[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ subject }) => subject);
  const found = await sql
    .selectFrom('turn')
    .select(['id', 'conversation_id', 'reason'])
    .where('id', 'in', ids)
    .execute();
  const byId = new Map(found.map((turn) => [turn.id, turn]));
  const messages = await messagesOf(sql, ids);
  const steps = await stepsOf(sql, ids);
  return rows.flatMap((row): DeadTurn[] => {
    const turn = byId.get(row.subject);
    if (turn === undefined) return [];
    return [
      {
        ...common(row),
        kind: 'unanswered',
        turnId: turn.id,
        conversationId: turn.conversation_id,
        messages: messages.get(turn.id) ?? [],
        steps: steps.get(turn.id) ?? 0,
        reason: turn.reason,
      },
    ];
  });
}

async function messagesOf(
  sql: Sql,
  turnIds: readonly string[],
): Promise<ReadonlyMap<string, readonly UnansweredMessage[]>> {
  const rows = await sql
    .selectFrom('inbox')
    .select([...INBOX_COLUMNS, 'turn_id'])
    .where('turn_id', 'in', turnIds)
    .orderBy('seq')
    .execute();
  const byTurn = new Map<string, UnansweredMessage[]>();
  for (const row of rows) {
    const { message, receivedAt: at } = readInboxRow(row);
    const { channel, account, messageId, sender, text } = message;
    const chat = { channel, account, chatId: message.chat.id };
    const written = { messageId, chat, from: sender.name, text, at };
    byTurn.set(row.turn_id ?? '', [...(byTurn.get(row.turn_id ?? '') ?? []), written]);
  }
  return byTurn;
}

async function stepsOf(sql: Sql, turnIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await sql
    .selectFrom('turn_step')
    .select((eb) => ['turn_id', eb.fn.countAll<number>().as('count')])
    .where('turn_id', 'in', turnIds)
    .groupBy('turn_id')
    .execute();
  return new Map(rows.map(({ turn_id, count }) => [turn_id, count]));
}
