import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MIGRATIONS, type Migration, migrate } from '../migrate.ts';
import { openStore } from '../open-store.ts';
import { openSqlite } from '../sqlite/open-sqlite.ts';
import { fillTables, readFixtureRows } from '../testing/filled-rows.ts';
import { createAnswer, createMessage, startTurn } from '../testing/messages.ts';
import { measureTables, readRecentMessages } from './inspect-copy.ts';
import { copyIntoOlderSchema, hasNewerSchema, mergeLog } from './older-schema.ts';

const NOW = 1_800_000_000_000;
const clock = () => NOW;

let folder: string;
let newer: string;
let older: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-older-'));
  newer = join(folder, 'newer.db');
  older = join(folder, 'older.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Applies the migrations of a newer version, with the given statements. */
async function upgrade(...statements: string[]): Promise<void> {
  const number = (MIGRATIONS.at(-1)?.number ?? 0) + 1;
  const later: Migration = { number, name: 'later', statements: () => statements };
  const database = openSqlite({ path: newer, name: newer });
  await migrate(database, [...MIGRATIONS, later], newer, clock);
  await database.close();
}

async function fill(): Promise<void> {
  const database = openSqlite({ path: newer, name: newer });
  await migrate(database, MIGRATIONS, newer, clock);
  await fillTables(database);
  await database.close();
}

async function rowsOf(path: string) {
  const database = openSqlite({ path, name: path });
  try {
    return await readFixtureRows(database);
  } finally {
    await database.close();
  }
}

describe('data of a newer version', () => {
  it('[D18] is copied into the schema of this version with every row of every table', async () => {
    await fill();
    const before = await rowsOf(newer);
    await upgrade(
      'alter table outbox add column reactions bigint not null default 0',
      'create table given_up (seq integer primary key, part text references outbox (id))',
      'insert into given_up (part) select id from outbox',
    );
    expect(hasNewerSchema(newer)).toBe(true);
    const bytes = readFileSync(newer);
    const { rows } = await copyIntoOlderSchema(newer, older, clock);
    expect(rows).toBeGreaterThan(40);
    expect(readFileSync(newer).equals(bytes)).toBe(true);
    expect(hasNewerSchema(older)).toBe(false);
    expect(await rowsOf(older)).toEqual(before);
    const counters = 'select name, seq from sqlite_sequence where name <> ? order by name';
    const read = (path: string) => new DatabaseSync(path).prepare(counters).all('given_up');
    expect(read(older)).toEqual(read(newer));
  });

  it('[D18] keeps what was accepted and answered by the newer version, and its unfinished work', async () => {
    const store = await openStore({ url: `sqlite:${newer}`, clock });
    await store.inbox.accept(createMessage('m1'));
    const { lease } = await startTurn(store, 't1');
    await store.lanes.commit(lease, createAnswer('t1', ['an answer']), 0);
    await store.inbox.accept(createMessage('m2'));
    await store.close();
    await upgrade('create table more (id text)');
    await copyIntoOlderSchema(newer, older, clock);
    const returned = await openStore({ url: `sqlite:${older}`, clock });
    expect(await returned.inbox.accept(createMessage('m1'))).toBe('duplicate');
    expect(await returned.inbox.accept(createMessage('m2'))).toBe('duplicate');
    expect(await returned.inbox.totalWaiting()).toBe(1);
    expect((await returned.outbox.counts()).pending).toBe(1);
    await returned.close();
  });

  it.each([
    ['renamed a table', ['alter table link_code rename to code_of_link']],
    ['dropped a column', ['alter table sign_in drop column used_at']],
    ['stores what the older one refuses', ['update sign_in set name = null']],
  ])('[D18] is refused when the newer version has %s', async (_what, statements) => {
    await fill();
    const allowNull = [
      "insert into sign_in (id, hash, name, role, created_at) values ('a', 'b', 'c', 'd', 1)",
      'create table loose as select * from sign_in',
      'drop table sign_in',
      'alter table loose rename to sign_in',
    ];
    await upgrade(...(statements[0]?.includes('null') ? allowNull : []), ...statements);
    const copied = copyIntoOlderSchema(newer, older, clock);
    await expect(copied).rejects.toMatchObject({ code: 'store-no-way-back' });
  });

  it('[D18] is complete in its file after the log was merged', async () => {
    const database = openSqlite({ path: newer, name: newer });
    await migrate(database, MIGRATIONS, newer, clock);
    await database.close();
    mergeLog(newer);
    const alone = new DatabaseSync(newer, { readOnly: true });
    expect(alone.prepare('pragma journal_mode').get()).toEqual({ journal_mode: 'delete' });
    alone.close();
  });
});

describe('a copied database', () => {
  it('[D18] is measured table by table, and its recent messages are read oldest first', async () => {
    const store = await openStore({ url: `sqlite:${newer}`, clock });
    for (const [nth, id] of ['m1', 'm2', 'm3'].entries())
      await store.inbox.accept(createMessage(id, 'c1', { at: nth }));
    await store.close();
    const ids = (since: number, limit: number) =>
      readRecentMessages(newer, since, limit).map(({ messageId }) => messageId);
    expect(ids(0, 10)).toEqual(['m1', 'm2', 'm3']);
    expect(ids(0, 2)).toEqual(['m2', 'm3']);
    expect(ids(1, 10)).toEqual(['m2', 'm3']);
    const { inbox, search_entry: search } = measureTables(newer);
    expect(inbox?.rows).toBe(3);
    expect(inbox?.columns).toBeGreaterThan(10);
    expect(search).toBeUndefined();
  });
});
