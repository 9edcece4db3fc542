import type { Database, Sql } from '../database.ts';
import type { DeadLetterRepository } from '../dead-letters.ts';
import { readDeadLetters } from './read-dead-letters.ts';
import { letterRow, replayLetter, settleLetter } from './replay-dead-letter.ts';

/** Dead letters on SQL. */
export function deadLetterRepository(database: Database): DeadLetterRepository {
  return {
    open: ({ before, limit }) =>
      database.read(async (sql) => {
        const newest = openRows(sql).selectAll().orderBy('seq', 'desc').limit(limit);
        const rows = await (before === undefined
          ? newest
          : newest.where('seq', '<', before)
        ).execute();
        return readDeadLetters(sql, rows);
      }),

    openIds: (kinds, after, limit) =>
      database.read(async (sql) => {
        const rows = await openRows(sql)
          .select('seq')
          .where('kind', 'in', kinds)
          .where('seq', '>', after)
          .orderBy('seq')
          .limit(limit)
          .execute();
        return rows.map(({ seq }) => seq);
      }),

    get: (id) =>
      database.read(async (sql) => {
        const row = await letterRow(sql, id);
        if (row === undefined) return null;
        const [letter] = await readDeadLetters(sql, [row]);
        return letter ?? null;
      }),

    counts: () =>
      database.read(async (sql) => {
        const rows = await openRows(sql)
          .select((eb) => ['kind', eb.fn.countAll<number>().as('count')])
          .groupBy('kind')
          .execute();
        const counts = { refused: 0, uncertain: 0, unanswered: 0 };
        for (const { kind, count } of rows) counts[kind] = count;
        return counts;
      }),

    replay: (id, how, now) =>
      database.write((sql) => replayLetter(database, sql, { id, how, now })),

    drop: (id, now) =>
      database.write(async (sql) => {
        if (await settleLetter(sql, id, 'dropped', now)) return 'dropped';
        return (await letterRow(sql, id)) === undefined ? 'missing' : 'settled';
      }),
  };
}

/** Served by `dead_letter_open`. */
function openRows(sql: Sql) {
  return sql.selectFrom('dead_letter').where('settled', 'is', null);
}
