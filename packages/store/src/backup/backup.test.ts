import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MIGRATIONS, type Migration, migrate } from '../migrate.ts';
import { openStore } from '../open-store.ts';
import { openSqlite } from '../sqlite/open-sqlite.ts';
import type { Store } from '../store.ts';
import { TABLE_LIST } from '../tables.ts';
import { fillTables, readFixtureRows } from '../testing/filled-rows.ts';
import { createAnswer, createMessage, startTurn } from '../testing/messages.ts';
import { copyDatabase } from './copy-database.ts';
import {
  createDatabaseFromRows,
  prepareRestoredDatabase,
  refuseUnknownMigrations,
} from './restore.ts';
import type { BackupRows, CellValue } from './rows.ts';
import { carryOverFile } from './unfinished.ts';

const NOW = 1_800_000_000_000;
const clock = () => NOW;
const FORGET = [{ channel: 'whatsapp', kind: 'creds' }];

let folder: string;
let live: string;
let target: string;
const stores: Store[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-backup-'));
  live = join(folder, 'parley.db');
  target = join(folder, 'copy.db');
});
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  rmSync(folder, { recursive: true });
});

describe('a copy of a database', () => {
  it('[D06] copies every row of every table, except short-lived rows', async () => {
    await fill();
    await copyDatabase(live, target);
    expect(await rowsOf(target)).toEqual(await rowsOf(live));
    expect(tables(live).filter((table) => count(live, table) === 0)).toEqual([]);
    const empty = tables(target).filter((table) => count(target, table) === 0);
    expect(empty.filter((table) => !/^search_entry_/.test(table))).toEqual(leftOut());
  });

  it('[U10] [G15] does not contain any bytes from excluded rows or from previously deleted rows', async () => {
    await fill();
    const deleted = 'these words were forgotten';
    run(
      live,
      `insert into memory_entry (file, id, type, scope, words) values ('a', 'b', 'fact', 'user', '${deleted}')`,
    );
    // Older versions of Parley do not overwrite deleted rows.
    run(live, 'pragma secure_delete = off', `delete from memory_entry where words = '${deleted}'`);
    const words = [...canaries(), deleted];
    expect(words.filter((word) => !bytesOf(live).includes(word))).toEqual([]);
    expect(words.length).toBeGreaterThan(7);
    await copyDatabase(live, target);
    expect(words.filter((word) => bytesOf(target).includes(word))).toEqual([]);
    expect(bytesOf(target).includes('Grüße, 你好')).toBe(true);
  });

  it('does not leave temporary files behind', async () => {
    await fill();
    await copyDatabase(live, target);
    expect(readFileSync(target).subarray(18, 20)).toEqual(Buffer.from([1, 1]));
    for (const end of ['.whole', '.whole-wal', '.whole-shm', '-wal', '-journal'])
      expect(() => readFileSync(`${target}${end}`)).toThrow('ENOENT');
  });

  it('takes a snapshot that contains each concurrent write completely or not at all', async () => {
    const store = await open(live);
    for (let nth = 0; nth < 40; nth += 1) await store.inbox.accept(createMessage(`m${nth}`));
    const copying = copyDatabase(live, target);
    for (let nth = 40; nth < 80; nth += 1) await store.inbox.accept(createMessage(`m${nth}`));
    await copying;
    const seen = column(target, 'select message_id from inbox order by seq');
    expect(seen.length).toBeGreaterThanOrEqual(40);
    expect(seen).toEqual(seen.map((_id, nth) => `m${nth}`));
    expect(column(target, 'pragma integrity_check')).toEqual(['ok']);
    expect(column(target, 'pragma auto_vacuum')).toEqual([2]);
  });

  it('[F18] leaves out view-once files and the keys to fetch them again', async () => {
    const store = await open(live);
    await store.inbox.accept(withFile('m1', { viewOnce: true }));
    await store.inbox.accept(withFile('m2', {}));
    const { files } = await copyDatabase(live, target);
    const [once, other] = column(live, 'select file_id from attachment order by inbox_seq');
    expect(once).not.toBeNull();
    expect(files).toEqual([other]);
    expect(column(target, 'select ref from attachment order by inbox_seq')).toEqual(['-', KEY]);
  });

  it('copies the applied migrations of a database from an older Parley, which has no separate files', async () => {
    const older = MIGRATIONS.slice(0, 1);
    const database = openSqlite({ path: live, name: live });
    await migrate(database, older, live, clock);
    await database.close();
    expect(await copyDatabase(live, target)).toEqual({ steps: [31], files: [] });
  });

  it('[D18] leaves out tables that had another name in an older version of Parley', async () => {
    const database = openSqlite({ path: live, name: live });
    await migrate(database, before(38), live, clock);
    await database.close();
    run(live, "insert into search_reach (source, seq) values ('inbox', 7)");
    await copyDatabase(live, target);
    expect(count(target, 'search_reach')).toBe(0);
    await prepare('go-on');
    expect(count(target, 'search_index_progress')).toBe(0);
  });

  it.each([
    ['a newer Parley', 9_999, 'store-newer'],
    ['a Parley from before the first release', 29, 'store-older'],
  ])('refuses to copy a database from %s', async (_whose, number, code) => {
    await fill();
    run(live, `insert into parley_migration values (${number}, 'x', '9.0.0', 0)`);
    await expect(copyDatabase(live, target)).rejects.toMatchObject({ code });
  });

  it('refuses to copy a damaged database and does not leave a file behind', async () => {
    writeFileSync(live, Buffer.alloc(8_192, 'garbled'));
    await expect(copyDatabase(live, target)).rejects.toMatchObject({ code: 'store-damaged' });
    expect(() => readFileSync(`${target}.whole`)).toThrow('ENOENT');
  });
});

describe('a restored database', () => {
  it('[D04] turns unfinished work into dead letters instead of repeating it', async () => {
    await fill();
    await copyDatabase(live, target);
    const held = await prepare('hold');
    expect(held).toEqual({ parts: 2, turns: 1, jobs: 1 });
    const store = await open(target);
    expect(await store.outbox.counts()).toMatchObject({ pending: 0, sending: 0, unknown: 2 });
    expect(await store.inbox.waiting('c2')).toBe(0);
    expect(await store.deadLetters.counts()).toEqual({ refused: 1, uncertain: 2, unanswered: 1 });
    expect(await store.cronJobs.due(NOW, 9)).toEqual([]);
    expect(await store.cronJobs.nextAt()).toBe(2_000_000_000_000);
    const creds = await store.adapterValues('whatsapp', 'default').get('creds', ['creds']);
    expect(creds).toEqual(new Map());
    for (const table of ['turn', 'heartbeat_run', 'sub_agent']) {
      const states = column(target, `select distinct state from ${table}`);
      expect(states).not.toContain('running');
      expect(states).not.toContain('held');
    }
  });

  it('[D06] holds messages that waited for their first turn, and can replay them', async () => {
    const store = await open(live);
    await store.inbox.accept(createMessage('m1'));
    await store.inbox.accept(createMessage('m2'));
    await copyDatabase(live, target);
    expect(await prepare('hold')).toMatchObject({ turns: 1 });
    const restored = await open(target);
    const [letter] = await restored.deadLetters.open({ limit: 9 });
    expect(letter).toMatchObject({ kind: 'unanswered', messages: [{}, {}] });
    await restored.deadLetters.replay(letter?.id ?? 0, 'once', NOW);
    expect(await restored.inbox.waiting('web:c1')).toBe(2);
  });

  it('[D02] resumes its unfinished work if nothing has run since the backup, and fences every earlier worker', async () => {
    await fill();
    await copyDatabase(live, target);
    await prepare('go-on');
    const { conversation: lanes, ...others } = await rowsOf(target);
    const { conversation: _lanes, ...same } = await rowsOf(live);
    expect(others).toEqual(same);
    expect(lanes?.map((lane) => JSON.parse(lane))).toMatchObject([
      { id: 'c1', epoch: 8, lease_owner: null },
      { id: 'c2', epoch: 8, lease_owner: null },
    ]);
    const store = await open(target);
    expect(await store.inbox.accept(createMessage('m1'))).toBe('stored');
    expect(column(target, 'select seq from inbox order by seq')).toEqual([1, 2, 3, 51]);
  });

  it('renames a restored database, so that no process mistakes it for the previous one', async () => {
    const before = await open(live);
    await before.state.advance();
    await copyDatabase(live, target);
    await prepare('hold');
    const state = { seen: before.state.seen, forget: [], onSetback() {} };
    const restored = await openStore({ url: `sqlite:${target}`, clock, state });
    stores.push(restored);
    await restored.state.advance();
    expect(await restored.state.lastSetback()).toBeNull();
    expect(restored.state.seen?.name).toBe(`restored_${NOW}`);
  });

  it('migrates a restored database together with its rows if an older version of Parley created it', async () => {
    await fill();
    await copyDatabase(live, target);
    const later: Migration = {
      number: (MIGRATIONS.at(-1)?.number ?? 0) + 1,
      name: 'shouting',
      statements: () => ["update memory_entry set words = 'TEA' where words = 'tea'"],
    };
    await prepare('go-on', [...MIGRATIONS, later]);
    expect((await rowsOf(target)).memory_entry).toMatchObject([expect.stringContaining('TEA')]);
    expect(column(target, 'select max(number) from parley_migration')).toEqual([later.number]);
  });

  it('restores every row, number and file from a backup made by 0.1.0', async () => {
    await fill();
    const picture = Buffer.from(Array.from({ length: 700_000 }, (_, at) => at % 251));
    const pieces = { name: 'file_piece', columns: ['file_id', 'piece_index', 'bytes'] };
    const rows: BackupRows[] = [
      ...rowsAsTaken(Object.keys(await rowsOf(live))),
      { table: pieces, rows: [['f1', 1, picture.subarray(262_144, 524_288)]] },
      {
        table: pieces,
        rows: [
          ['f1', 2, picture.subarray(524_288)],
          ['f1', 0, picture.subarray(0, 262_144)],
        ],
      },
      { table: pieces, rows: [['../f2', 0, picture]] },
    ];
    const steps = MIGRATIONS.map(({ number }) => number);
    const schema = { steps, tables: rows.map(({ table }) => table), counters: { inbox: 50 } };
    await createDatabaseFromRows(target, schema, each(rows), clock);
    expect(await rowsOf(target)).toEqual(await rowsOf(live));
    expect(readFileSync(join(`${target}-files`, 'f1')).equals(picture)).toBe(true);
    expect(() => readFileSync(join(folder, 'f2'))).toThrow('ENOENT');
    await prepare('go-on');
    const store = await open(target);
    await store.inbox.accept(createMessage('m1'));
    expect(column(target, 'select max(seq) from inbox')).toEqual([51]);
  });

  it('[D18] stores rows from an older version of Parley under the current table names', async () => {
    const table = { name: 'adapter_value', columns: ['channel', 'account', 'kind', 'id', 'value'] };
    const rows = [{ table, rows: [['whatsapp', 'default', 'creds', 'i', 'a key']] }];
    const steps = before(32).map(({ number }) => number);
    await createDatabaseFromRows(
      target,
      { steps, tables: [table], counters: {} },
      each(rows),
      clock,
    );
    await prepare('go-on');
    const values = (await open(target)).adapterValues('whatsapp', 'default');
    expect((await values.get('creds', ['i'])).get('i')).toBe('a key');
  });

  it.each([
    ['newer', 9_999, 'store-newer'],
    ['from before the first release', 29, 'store-older'],
  ])('refuses a backup that is %s', (_what, step, code) => {
    expect(() => refuseUnknownMigrations([31, step], '9.0.0', 'b.tar.gz')).toThrow(
      expect.objectContaining({ code }),
    );
  });
});

describe('unfinished work in the replaced database', () => {
  const order = { unfinished: 'hold', forget: FORGET } as const;

  it('[D01] [G16] carries over unfinished work the way a crash recovery does, and drops related dead letters', async () => {
    const store = await open(live);
    await store.inbox.accept(createMessage('m1'));
    await copyDatabase(live, target);
    await startTurn(store, 't1');
    await store.inbox.accept(createMessage('m2'));
    await store.inbox.accept(createMessage('m3', 'c2'));
    const { lease: other } = await startTurn(store, 't2', 'web:c2');
    await store.lanes.commit(other, createAnswer('t2', ['unsent'], 'c2'), NOW);
    await store
      .adapterValues('whatsapp', 'default')
      .set([{ kind: 'creds', id: 'i', value: 'new' }]);
    await prepare('hold');
    const letters = { unanswered: 1, uncertain: 0 };
    const carried = { kind: 'carried', messages: 2, parts: 1, letters };
    expect(await carryOverFile(target, live, order)).toEqual(carried);
    const restored = await open(target);
    expect(await restored.deadLetters.counts()).toMatchObject({ unanswered: 0, uncertain: 0 });
    expect(await restored.outbox.counts()).toMatchObject({ pending: 1 });
    const { turn: resumed } = await startTurn(restored, 't3');
    expect(resumed).toMatchObject({ turnId: 't1', messages: [{}] });
    expect(await restored.inbox.waiting('web:c1')).toBe(1);
    const creds = await restored.adapterValues('whatsapp', 'default').get('creds', ['i']);
    expect(creds.get('i')).toBe('new');
  });

  it('[D01] [F10] carries over unfinished messages with their files', async () => {
    const store = await open(live);
    await copyDatabase(live, target);
    await store.inbox.accept(withFile('m1', {}));
    await prepare('hold');
    await carryOverFile(target, live, order);
    const restored = await open(target);
    const file = await restored.attachments.bytes({ messageSeq: 1, index: 0 });
    expect(String(Buffer.from(file ?? []))).toBe('a picture');
    expect(await restored.files.missing()).toBe(0);
  });

  it('[D01] refuses to drop unfinished work if the backup is declared to be the final state', async () => {
    const store = await open(live);
    await copyDatabase(live, target);
    await store.inbox.accept(createMessage('m1'));
    await prepare('go-on');
    const refused = carryOverFile(target, live, { ...order, unfinished: 'go-on' });
    await expect(refused).rejects.toMatchObject({ code: 'store-pending-work' });
    await copyDatabase(live, `${target}.2`);
    const nothing = { kind: 'carried', messages: 0, parts: 0 };
    const same = carryOverFile(`${target}.2`, live, { ...order, unfinished: 'go-on' });
    expect(await same).toMatchObject(nothing);
  });

  it('leaves unfinished work behind, and reports why, if the replaced database is unreadable or from an older version', async () => {
    await open(live);
    await copyDatabase(live, target);
    await prepare('hold');
    run(live, `delete from parley_migration where number = 37`);
    const older = {
      kind: 'unreadable',
      reason: 'it is a database from an older version of Parley',
    };
    expect(await carryOverFile(target, live, order)).toEqual(older);
    const garbled = join(folder, 'garbled.db');
    writeFileSync(garbled, Buffer.alloc(8_192, 'garbled'));
    expect(await carryOverFile(target, garbled, order)).toMatchObject({ kind: 'unreadable' });
  });
});

const KEY = 'the key of the file';

function withFile(id: string, more: { readonly viewOnce?: true }) {
  const plain = createMessage(id);
  const attachments = [{ kind: 'document', ref: KEY, ...more } as const];
  const files = [Buffer.from('a picture')];
  return { ...plain, message: { ...plain.message, attachments }, files };
}

/** The migrations of an older version of Parley. */
const before = (migration: number) => MIGRATIONS.filter(({ number }) => number < migration);

async function open(path: string): Promise<Store> {
  const store = await openStore({ url: `sqlite:${path}`, clock });
  stores.push(store);
  return store;
}

function prepare(unfinished: 'hold' | 'go-on', migrations = MIGRATIONS) {
  return prepareRestoredDatabase({ path: target, clock, unfinished, forget: FORGET }, migrations);
}

/** Fills every table; the rows of tables that are not copied contain a canary word. */
async function fill(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const database = openSqlite({ path: live, name: live });
  await migrate(database, MIGRATIONS, live, clock);
  await fillTables(database);
  await database.close();
  // The newest messages have been removed, but their numbers must not be reused.
  run(live, "update sqlite_sequence set seq = 50 where name = 'inbox'");
  for (const table of tables(live)) if (count(live, table) === 0) fillWithCanaries(table);
}

/** The tables whose rows are left out of a SQLite backup. */
function leftOut(): readonly string[] {
  return TABLE_LIST.flatMap(([name, { notInBackup }]) =>
    notInBackup === undefined || name === 'parley_migration' ? [] : [name],
  ).toSorted();
}

function canary(table: string): string {
  return `canaryof${table.replaceAll('_', '')}`;
}

/** The canary words: one for each table that contains text. */
function canaries(): readonly string[] {
  return leftOut()
    .filter((table) => table !== 'retention_run')
    .map(canary);
}

function fillWithCanaries(table: string): void {
  const sqlite = new DatabaseSync(live, { enableForeignKeyConstraints: false });
  const columns = sqlite.prepare('select name, type from pragma_table_info(?)').all(table);
  const isText = ({ type }: (typeof columns)[number]) => /text|^$/i.test(String(type));
  const values = columns.map((one) => (isText(one) ? `'${canary(table)}'` : '1'));
  sqlite.exec(`insert into ${table} (${columns.map(({ name }) => name)}) values (${values})`);
  sqlite.close();
}

/** Parley's tables, except those of the search index. */
function tables(path: string): readonly string[] {
  return column(
    path,
    "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like 'search_entry_%' order by name",
  ).map(String);
}

async function rowsOf(path: string) {
  const database = openSqlite({ path, name: path });
  const rows = await readFixtureRows(database);
  await database.close();
  return rows;
}

function rowsAsTaken(names: readonly string[]): readonly BackupRows[] {
  const sqlite = new DatabaseSync(live, { readOnly: true });
  const taken = names.map((name) => {
    const query = sqlite.prepare(`select * from ${name}`);
    const columns = query.columns().map((one) => one.name);
    const rows = query.all().map((row) => columns.map((column) => row[column] as CellValue));
    return { table: { name, columns }, rows };
  });
  sqlite.close();
  return taken;
}

async function* each(rows: readonly BackupRows[]): AsyncIterable<BackupRows> {
  yield* rows;
}

function count(path: string, table: string): number {
  return Number(column(path, `select count(*) from ${table}`)[0]);
}

function column(path: string, query: string): readonly unknown[] {
  const sqlite = new DatabaseSync(path);
  const rows = sqlite.prepare(query).all();
  sqlite.close();
  return rows.map((row) => Object.values(row)[0]);
}

function run(path: string, ...queries: readonly string[]): void {
  const sqlite = new DatabaseSync(path);
  for (const query of queries) sqlite.exec(query);
  sqlite.close();
}

function bytesOf(path: string): Buffer {
  return Buffer.concat(
    [path, `${path}-wal`].map((file) => {
      try {
        return readFileSync(file);
      } catch {
        return Buffer.alloc(0);
      }
    }),
  );
}
