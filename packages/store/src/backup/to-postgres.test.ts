import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { type Database, parseStoreUrl } from '../database.ts';
import { MIGRATIONS, migrate } from '../migrate.ts';
import { openStore } from '../open-store.ts';
import { openPostgres } from '../postgres/open-postgres.ts';
import { openSqlite } from '../sqlite/open-sqlite.ts';
import { listBothDatabases } from '../testing/databases.ts';
import { fillTables, readFixtureRows } from '../testing/filled-rows.ts';
import { createMessage } from '../testing/messages.ts';
import { copyToPostgres, refuseNonEmptyPostgres } from './to-postgres.ts';

const clock = () => 1_800_000_000_000;
/** Large enough to be stored in three pieces. */
const LARGE_FILE = Buffer.from(Array.from({ length: 700_000 }, (_, at) => at % 251));

const [, postgres] = listBothDatabases(inject('postgresUrl'));
const folder = mkdtempSync(join(tmpdir(), 'parley-move-'));
afterAll(async () => {
  await postgres?.dispose();
  rmSync(folder, { recursive: true });
});

describe.runIf(postgres?.available)('moving a database from SQLite to PostgreSQL', () => {
  const url = () => postgres?.url() ?? '';
  let files = 0;
  let path: string;
  beforeEach(async () => {
    await postgres?.openBare();
    files += 1;
    path = join(folder, `${files}.db`);
  });

  it('[D09] copies every row of every table and does not reuse numbers', async () => {
    const database = openSqlite({ path, name: path });
    await migrate(database, MIGRATIONS, path, clock);
    await fillTables(database);
    const before = await readFixtureRows(database);
    await database.close();
    await refuseNonEmptyPostgres(url());
    await copyToPostgres(path, url(), clock);
    await using after = await openRaw();
    expect(await readFixtureRows(after.database)).toEqual(before);
    const store = await openStore({ url: url(), clock });
    expect(await store.inbox.accept(createMessage('m1'))).toBe('stored');
    await store.close();
  });

  it('[D01] [F10] copies message files', async () => {
    const before = await openStore({ url: `sqlite:${path}`, clock });
    const plain = createMessage('m1\0');
    const attachments = [{ kind: 'document', ref: 'r' } as const];
    await before.inbox.accept({
      ...plain,
      message: { ...plain.message, attachments },
      files: [LARGE_FILE],
    });
    await before.close();
    await copyToPostgres(path, url(), clock);
    const after = await openStore({ url: url(), clock });
    const file = await after.attachments.bytes({ messageSeq: 1, index: 0 });
    expect(Buffer.from(file ?? []).equals(LARGE_FILE)).toBe(true);
    expect(await after.files.missing()).toBe(0);
    await after.close();
  });

  it('[D01] refuses to overwrite a database that contains Parley data', async () => {
    await (await openStore({ url: `sqlite:${path}`, clock })).close();
    const store = await openStore({ url: url(), clock });
    await store.inbox.accept(createMessage('m1'));
    const refused = { code: 'store-not-empty', message: expect.stringContaining('another one') };
    await expect(refuseNonEmptyPostgres(url())).rejects.toMatchObject(refused);
    await expect(copyToPostgres(path, url(), clock)).rejects.toMatchObject(refused);
    expect(await store.inbox.waiting('web:c1')).toBe(1);
    await store.close();
  });

  it('[D01] copies nothing if the files beside the database cannot be replaced', async () => {
    await (await openStore({ url: `sqlite:${path}`, clock })).close();
    const failing = copyToPostgres(path, url(), clock, () => {
      throw new Error('no room');
    });
    await expect(failing).rejects.toThrow('no room');
    await refuseNonEmptyPostgres(url());
  });

  async function openRaw(): Promise<AsyncDisposable & { database: Database }> {
    const address = parseStoreUrl(url());
    if (address.dialect !== 'postgres') throw new Error('no PostgreSQL');
    const database = await openPostgres(address);
    return { database, [Symbol.asyncDispose]: () => database.close() };
  }
});
