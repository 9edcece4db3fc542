import { afterAll, describe, expect, inject, it } from 'vitest';
import { defineDynamicStatement, defineStatement, StoreError } from '../database.ts';
import { explainPostgresFailure, openPostgres } from './open-postgres.ts';

const url = inject('postgresUrl');

describe.runIf(url)('a PostgreSQL pool', async () => {
  const database = await openPostgres({ url: url ?? 'postgres://unused', name: 'the server' });
  afterAll(() => database.close());

  it('returns big integers and their sums as numbers', async () => {
    const sums = 'select cast(1763700000001 as bigint) as time, sum(cast(2 as bigint)) as sum';
    const rows = await database.read((sql) => sql.all(defineDynamicStatement(sums)));
    expect(rows).toEqual([{ time: 1_763_700_000_001, sum: 2 }]);
  });

  it('sends the queries of one event loop turn together, and answers each separately', async () => {
    await database.write(async (sql) => {
      const one = sql.get(
        defineDynamicStatement('select 1 as n, now() as at').rows<{ at: Date }>(),
      );
      const two = sql.all(
        defineDynamicStatement(
          'create temporary table batch (n bigint, bytes bytea) on commit drop',
        ),
      );
      const values = { n: 7, bytes: new Uint8Array([0, 1, 255]), none: null };
      const insert = 'insert into batch values (:n, :bytes), (:none, null)';
      const three = sql.run(defineDynamicStatement(insert), values);
      const { bytes } = values;
      const four = sql.all(
        defineDynamicStatement('select n, bytes from batch where n is distinct from 8 order by n'),
      );
      expect((await one)?.at).toBeInstanceOf(Date);
      expect(await two).toEqual([]);
      expect(await three).toBe(2);
      expect(await four).toEqual([
        { n: 7, bytes: Buffer.from(bytes) },
        { n: null, bytes: null },
      ]);
    });
  });

  it('does not commit a transaction with a failed statement, and prepares its statements again', async () => {
    const name = `batch_${process.pid}`;
    const insert = defineStatement(`insert into ${name} (n) values (:n)`);
    const count = defineStatement(`select count(*) as n from ${name}`).rows<{ n: number }>();
    await database.write((sql) =>
      sql.run(defineDynamicStatement(`create table ${name} (n bigint unique)`)),
    );
    try {
      const doubled = database.write(async (sql) => {
        sql.send(insert, { n: 1 });
        sql.send(insert, { n: 1 });
        await sql.get(count);
      });
      await expect(doubled).rejects.toThrow('duplicate key');
      const each = Array.from({ length: 12 }, (_, n) =>
        database.write(async (sql) => {
          sql.send(insert, { n });
          return sql.get(count);
        }),
      );
      await Promise.all(each);
      const divide = defineStatement('select 12 / cast(:by as bigint) as n').rows<{ n: number }>();
      const divided = (by: number) => database.write((sql) => sql.get(divide, { by }));
      await expect(divided(0)).rejects.toThrow('division by zero');
      expect(await divided(3)).toEqual({ n: 4 });
      expect(await database.read((sql) => sql.get(count))).toEqual({ n: 12 });
    } finally {
      await database.write((sql) => sql.run(defineDynamicStatement(`drop table ${name}`)));
    }
  });

  it('rejects a value that PostgreSQL cannot store, and continues', async () => {
    const cast = defineDynamicStatement('select cast(:value as text) as is');
    const value = JSON.parse('{"a":1}');
    const asked = database.write((sql) => sql.get(cast, { value }));
    await expect(asked).rejects.toThrow('accepts only text, numbers and bytes');
    const after = await database.read((sql) => sql.all(cast, { value: JSON.parse('true') }));
    expect(after).toEqual([{ is: 'true' }]);
  });

  it('reports a retryable error when a connection breaks in the middle of a transaction', async () => {
    const writing = database.write(async (sql) => {
      const mine = await sql.get(
        defineDynamicStatement('select pg_backend_pid() as pid').rows<{ pid: number }>(),
      );
      const end = defineDynamicStatement('select pg_terminate_backend(:pid)');
      await database.read((other) => other.get(end, { pid: mine?.pid ?? 0 }));
      // The borrowed connection fails while no query is running on it.
      await new Promise((resolve) => setTimeout(resolve, 100));
      return await sql.get(defineDynamicStatement('select 1'));
    });
    await expect(writing).rejects.toMatchObject({ code: 'store-unreachable', retryable: true });
    const after = await database.read((sql) => sql.all(defineDynamicStatement('select 1 as one')));
    expect(after).toEqual([{ one: 1 }]);
  });
});

const explain = (thrown: unknown) => explainPostgresFailure('postgres://db/parley', thrown);
const fromServer = (code: string) =>
  Object.assign(new Error('server says'), { severity: 'FATAL', code });

describe('a PostgreSQL failure', () => {
  it.each([
    ['57P01', 'store-unreachable', true],
    ['57P03', 'store-unreachable', true],
    ['53300', 'store-unreachable', true],
    ['08006', 'store-unreachable', true],
    ['40P01', 'store-busy', true],
    ['55P03', 'store-busy', true],
    ['28P01', 'store-refused', false],
    ['3D000', 'store-refused', false],
    ['42501', 'store-unwritable', false],
    ['25006', 'store-unwritable', false],
    ['53100', 'store-full', false],
    ['XX001', 'store-damaged', false],
    ['23505', 'store-failed', false],
  ])('maps SQLSTATE %s to %s', (state, code, retryable) => {
    expect(explain(fromServer(state))).toMatchObject({
      code,
      retryable,
      message: expect.stringContaining('postgres://db/parley'),
    });
  });

  it.each([
    Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
    Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
    new Error('Connection terminated unexpectedly'),
    new Error('timeout exceeded when trying to connect'),
    new AggregateError([new Error('connect ECONNREFUSED ::1:5432')], ''),
  ])('treats a network failure as retryable: $message', (thrown) => {
    expect(explain(thrown)).toMatchObject({ code: 'store-unreachable', retryable: true });
  });

  it('passes a StoreError through and does not hide a programming error', () => {
    const known = new StoreError('store-part-state', 'known');
    expect(explain(known)).toBe(known);
    expect(explain(new TypeError('x is not a function')).code).toBe('store-failed');
    expect(explain(undefined).code).toBe('store-failed');
  });
});
