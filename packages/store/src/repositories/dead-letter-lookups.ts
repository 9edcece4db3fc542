import type { Sql } from '../database.ts';
import type { DeadLetter, DeadLetterRepository } from '../dead-letters.ts';
import { withSubjects } from './read-dead-letters.ts';

/** The newest letters that nobody has settled. */
export async function openLetters(
  sql: Sql,
  { before, limit }: Parameters<DeadLetterRepository['open']>[0],
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
export async function countOpen(sql: Sql): ReturnType<DeadLetterRepository['counts']> {
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
