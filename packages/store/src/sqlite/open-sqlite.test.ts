import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Database, defineDynamicStatement, StoreError } from '../database.ts';
import { explainSqliteFailure, openSqlite } from './open-sqlite.ts';

describe('a SQLite connection', () => {
  let folder: string;
  let database: Database;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-sqlite-'));
    database = openSqlite({ path: join(folder, 'parley.db'), name: 'parley.db' });
  });
  afterEach(async () => {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const pragma = async (name: string) => {
    const row = await database.read((sql) =>
      sql.get(defineDynamicStatement(`pragma ${name}`).rows<object>()),
    );
    return Object.values(row ?? {})[0];
  };

  it('[D01] syncs each commit to disk before it resolves', async () => {
    expect(await pragma('journal_mode')).toBe('wal');
    // The value 1 is NORMAL, 2 is FULL, see sqlite.org/pragma.html#pragma_synchronous
    expect(await pragma('synchronous')).toBe(2);
    await database.write(async () => undefined, 'process');
    expect(await pragma('synchronous')).toBe(1);
    await database.write(async () => undefined);
    expect(await pragma('synchronous')).toBe(2);
  });

  it('enforces foreign keys and waits for locks held by other connections', async () => {
    expect(await pragma('foreign_keys')).toBe(1);
    expect(await pragma('busy_timeout')).toBe(5_000);
  });

  it('hides uncommitted changes from reads', async () => {
    await database.write((sql) => sql.run(defineDynamicStatement('create table t (x integer)')));
    const writing = database.write(async (sql) => {
      await sql.run(defineDynamicStatement('insert into t values (1)'));
      await Promise.resolve();
      await sql.run(defineDynamicStatement('insert into t values (2)'));
      throw new Error('changed my mind');
    });
    const query = defineDynamicStatement('select count(*) as n from t').rows<{ n: number }>();
    const count = () => database.read((sql) => sql.get(query));
    const seen = new Set<number | undefined>();
    const watching = (async () => {
      for (let i = 0; i < 20; i += 1) {
        seen.add((await count())?.n);
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    await expect(writing).rejects.toThrow('changed my mind');
    await watching;
    expect(seen).toEqual(new Set([0]));
  });
});

const explain = (thrown: unknown) => explainSqliteFailure('/data/parley.db', thrown);

describe('a SQLite failure', () => {
  it('explains that the disk is full, as SQLite reports it', () => {
    const sqlite = new DatabaseSync(':memory:');
    sqlite.exec('pragma max_page_count = 3; create table t (x text)');
    const fill = () => sqlite.exec(`insert into t values ('${'x'.repeat(50_000)}')`);
    let thrown: unknown;
    try {
      fill();
    } catch (reason) {
      thrown = reason;
    }
    expect(explain(thrown)).toMatchObject({
      code: 'store-full',
      retryable: false,
      message: expect.stringContaining('/data/parley.db'),
    });
    sqlite.close();
  });

  it.each([
    [5, 'store-busy', true],
    [261, 'store-busy', true],
    [8, 'store-unwritable', false],
    [1032, 'store-unwritable', false],
    [14, 'store-unwritable', false],
    [11, 'store-damaged', false],
    [267, 'store-damaged', false],
    [26, 'store-damaged', false],
    [13, 'store-full', false],
    [10, 'store-failed', false],
    [19, 'store-failed', false],
  ])('maps result code %i to %s', (errcode, code, retryable) => {
    const thrown = Object.assign(new Error('sqlite says'), { code: 'ERR_SQLITE_ERROR', errcode });
    expect(explain(thrown)).toMatchObject({ code, retryable, cause: thrown });
  });

  it.each([
    ['EACCES', 'store-unwritable'],
    ['EROFS', 'store-unwritable'],
    ['ENOSPC', 'store-full'],
    ['EIO', 'store-failed'],
  ])('maps the file system error %s to %s', (code, expected) => {
    expect(explain(Object.assign(new Error('fs says'), { code })).code).toBe(expected);
  });

  it('passes a StoreError through, and handles a thrown value that is not an error', () => {
    const known = new StoreError('store-part-state', 'known');
    expect(explain(known)).toBe(known);
    expect(explain('what?').code).toBe('store-failed');
  });
});
