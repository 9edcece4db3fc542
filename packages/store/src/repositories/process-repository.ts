import type { Database } from '../database.ts';
import type { ProcessRepository } from '../processes.ts';

const FORGOTTEN_AFTER_MS = 24 * 60 * 60_000;

/** The processes on SQL. */
export function processRepository(database: Database): ProcessRepository {
  return {
    beat: (process, now) =>
      database.write(async (sql) => {
        const { startedAt: started_at, ...facts } = process;
        const row = { ...facts, started_at, seen_at: now };
        await sql
          .insertInto('process')
          .values(row)
          .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
          .execute();
        await sql
          .deleteFrom('process')
          .where('seen_at', '<', now - FORGOTTEN_AFTER_MS)
          .execute();
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
        return rows.map(({ started_at, seen_at: _, ...facts }) => ({
          ...facts,
          startedAt: started_at,
        }));
      }),
  };
}
