import type { Database } from '../database.ts';
import { fromCheckedJson, toJson } from '../json-column.ts';
import { raw } from '../kysely.ts';
import { ProcessFacts, type ProcessRepository } from '../processes.ts';

const FORGOTTEN_AFTER_MS = 24 * 60 * 60_000;

/** The processes on SQL. */
export function processRepository(database: Database): ProcessRepository {
  const databaseTime =
    database.dialect === 'sqlite'
      ? raw<number>`cast(unixepoch('subsec') * 1000 as integer)`
      : raw<number>`(extract(epoch from clock_timestamp()) * 1000)::float8`;
  return {
    time: () =>
      database.read(async (sql) => {
        const { rows } = await raw<{ time: number }>`select ${databaseTime} as time`.execute(sql);
        return rows[0]?.time ?? 0;
      }),

    beat: (process, now) =>
      database.write(async (sql) => {
        const { startedAt: started_at, facts, ...about } = process;
        const json = facts === undefined ? null : toJson(facts);
        const row = { ...about, started_at, seen_at: now, facts: json };
        const { time } = await sql
          .insertInto('process')
          .values(row)
          .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
          .returning(databaseTime.as('time'))
          .executeTakeFirstOrThrow();
        await sql
          .deleteFrom('process')
          .where('seen_at', '<', now - FORGOTTEN_AFTER_MS)
          .execute();
        return time;
      }, 'process'),

    leave: (id) =>
      database.write(async (sql) => {
        await sql.deleteFrom('process').where('id', '=', id).execute();
      }, 'process'),

    list: (since) =>
      database.read(async (sql) => {
        const rows = await sql
          .selectFrom('process')
          .selectAll()
          .where('seen_at', '>=', since)
          .orderBy('started_at')
          .orderBy('id')
          .execute();
        return rows.map(({ started_at, seen_at: _, facts, ...about }) => ({
          ...about,
          startedAt: started_at,
          ...(facts !== null && {
            facts: fromCheckedJson(ProcessFacts, facts, 'facts of a process'),
          }),
        }));
      }),
  };
}
