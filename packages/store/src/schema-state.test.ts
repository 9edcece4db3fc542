import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest';
import { openStore } from './open-store.ts';
import { readDatabaseState } from './schema-state.ts';
import { listBothDatabases } from './testing/databases.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-state-'));
  path = join(folder, 'parley.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const state = () => readDatabaseState({ url: `sqlite:${path}` });
const open = () => openStore({ url: `sqlite:${path}`, clock: Date.now });

describe('databaseState', () => {
  it('[U02] does not create a missing database', async () => {
    expect(await state()).toMatchObject({ kind: 'absent', dialect: 'sqlite', name: path });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('[U02] works while a process has the database open, and after it was closed', async () => {
    const store = await open();
    expect(await state()).toMatchObject({ kind: 'current' });
    await store.close();
    const before = readFileSync(path);
    expect(await state()).toMatchObject({ kind: 'current', bytes: before.length });
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readdirSync(folder)).toEqual(['parley.db']);
  });

  it('[U02] does not change a schema that opening the database would migrate', async () => {
    await (await open()).close();
    const sqlite = new DatabaseSync(path);
    sqlite.exec('delete from parley_migration');
    sqlite.close();
    const before = readFileSync(path);
    expect(await state()).toMatchObject({ kind: 'behind' });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('[U02] rejects a database created by a newer version of Parley, and a damaged one', async () => {
    await (await open()).close();
    const sqlite = new DatabaseSync(path);
    sqlite.exec("insert into parley_migration values (9999, 'x', '99.0.0', 0)");
    sqlite.close();
    await expect(state()).rejects.toMatchObject({ code: 'store-newer' });
    writeFileSync(path, 'no database at all '.repeat(500));
    await expect(state()).rejects.toMatchObject({ code: 'store-damaged' });
  });

  it('[U02] finds a damaged page', async () => {
    await (await open()).close();
    const bytes = readFileSync(path);
    bytes.fill(0xff, 3 * 4096, 6 * 4096);
    writeFileSync(path, bytes);
    await expect(state()).rejects.toMatchObject({ code: 'store-damaged' });
  });
});

const [, postgres] = listBothDatabases(inject('postgresUrl'));

describe.runIf(postgres?.available)('databaseState on PostgreSQL', () => {
  it('[U02] does not create tables', async () => {
    if (postgres === undefined) return;
    onTestFinished(() => postgres.dispose());
    await postgres.openBare();
    const look = () => readDatabaseState({ url: postgres.url() });
    expect(await look()).toMatchObject({ kind: 'behind', bytes: null });
    expect(await look()).toMatchObject({ kind: 'behind' });
    await (await openStore({ url: postgres.url(), clock: Date.now })).close();
    expect(await look()).toMatchObject({ kind: 'current', dialect: 'postgres' });
  });
});

describe('databaseState for an unreachable server', () => {
  it('[U02] reports an unreachable server without the password', async () => {
    const url = 'postgres://ann:secret-word@127.0.0.1:9/parley';
    const thrown = await readDatabaseState({ url }).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: 'store-unreachable' });
    expect(String(thrown)).not.toContain('secret-word');
  });
});
