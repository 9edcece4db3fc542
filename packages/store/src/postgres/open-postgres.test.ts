import { afterAll, describe, expect, inject, it } from 'vitest';
import { raw } from '../kysely.ts';
import { openPostgres } from './open-postgres.ts';

const url = inject('postgresUrl');

describe.runIf(url)('a PostgreSQL pool', async () => {
  const database = await openPostgres({ url: url ?? 'postgres://unused', name: 'the server' });
  afterAll(() => database.close());

  it('gives big integers and sums of them as numbers', async () => {
    const result = await database.read((sql) =>
      raw`select 1763700000001::bigint as time, sum(2::bigint) as sum`.execute(sql),
    );
    expect(result.rows).toEqual([{ time: 1_763_700_000_001, sum: 2 }]);
  });

  it('survives a connection that breaks in the middle of a transaction, and says try again', async () => {
    const writing = database.write(async (sql) => {
      const mine = await raw<{ pid: number }>`select pg_backend_pid() as pid`.execute(sql);
      await database.read((other) =>
        raw`select pg_terminate_backend(${mine.rows[0]?.pid})`.execute(other),
      );
      // The news arrives while no query is running on the lent connection.
      await new Promise((resolve) => setTimeout(resolve, 100));
      return await raw`select 1`.execute(sql);
    });
    await expect(writing).rejects.toMatchObject({ code: 'store-unreachable', retryable: true });
    const after = await database.read((sql) => raw`select 1 as one`.execute(sql));
    expect(after.rows).toEqual([{ one: 1 }]);
  });
});
