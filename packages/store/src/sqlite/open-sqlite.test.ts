import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { composed, type Database } from '../database.ts';
import { openSqlite } from './open-sqlite.ts';

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
    const row = await database.read((sql) => sql.get(composed(`pragma ${name}`).rows<object>()));
    return Object.values(row ?? {})[0];
  };

  it('[D01] syncs each commit to the disk before it is called stored', async () => {
    expect(await pragma('journal_mode')).toBe('wal');
    // 1 is NORMAL, 2 is FULL, see sqlite.org/pragma.html#pragma_synchronous
    expect(await pragma('synchronous')).toBe(2);
    await database.write(async () => undefined, 'process');
    expect(await pragma('synchronous')).toBe(1);
    await database.write(async () => undefined);
    expect(await pragma('synchronous')).toBe(2);
  });

  it('minds references and waits for locks of others', async () => {
    expect(await pragma('foreign_keys')).toBe(1);
    expect(await pragma('busy_timeout')).toBe(5_000);
  });

  it('shows a read nothing that is not committed', async () => {
    await database.write((sql) => sql.run(composed('create table t (x integer)')));
    const writing = database.write(async (sql) => {
      await sql.run(composed('insert into t values (1)'));
      await Promise.resolve();
      await sql.run(composed('insert into t values (2)'));
      throw new Error('changed my mind');
    });
    const query = composed('select count(*) as n from t').rows<{ n: number }>();
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
