import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { composed, type Database, parseStoreUrl, type SqlValue } from '../database.ts';
import { MIGRATIONS, type Migration, migrate } from '../migrate.ts';
import { openStore } from '../open-store.ts';
import { openPostgres } from '../postgres/open-postgres.ts';
import { openSqlite } from '../sqlite/open-sqlite.ts';
import { bothDatabases, type TestDatabase } from '../testing/databases.ts';
import { filledRows, fillTables } from '../testing/filled-rows.ts';
import { answer, claim, hold, message } from '../testing/messages.ts';
import { restoreStore, type StoreRestore } from './restore.ts';
import { type BackupRows, type BackupSchema, openSnapshot } from './snapshot.ts';

const NOW = 1_800_000_000_000;
const clock = () => NOW;
const folder = mkdtempSync(join(tmpdir(), 'parley-backup-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A snapshot held in memory, as the file would hold it. */
interface Copy {
  readonly schema: BackupSchema;
  readonly rows: readonly BackupRows[];
}

const [, postgres] = bothDatabases(inject('postgresUrl'));
afterAll(() => postgres?.dispose());

for (const database of bothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`a backup of ${database.name}`, () => {
    afterAll(() => database.dispose());

    for (const target of ['SQLite', 'PostgreSQL'] as const) {
      const isThere = target === 'SQLite' || postgres?.available === true;
      it.runIf(isThere)(`put into ${target} gives every row of every table back`, async () => {
        await fill(database);
        await using before = await openRaw(database.url());
        const rows = await filledRows(before.database);
        const copy = await copyOf(database.url());
        expect(copy.schema.tables.map(({ name }) => name).toSorted()).toEqual(
          (await tablesIn(before.database)).filter((name) => !LEFT_OUT.has(name)),
        );
        const url = await emptyTarget(target);
        await restore(url, copy, { unfinished: 'go-on' });
        await using after = await openRaw(url);
        const { conversation: lanes, ...others } = await filledRows(after.database);
        const { conversation: _lanes, ...same } = rows;
        expect(others).toEqual(same);
        expect(lanes?.map((lane) => JSON.parse(lane))).toMatchObject([
          { id: 'c1', epoch: 8, lease_owner: null },
          { id: 'c2', epoch: 8, lease_owner: null },
        ]);
        const store = await openStore({ url, clock });
        expect(await store.inbox.accept(message('m1'))).toBe('stored');
        expect(await numbersOf(after.database)).toEqual([1, 2, 3, 51]);
        await store.close();
      });
    }

    for (const target of ['SQLite', 'PostgreSQL'] as const) {
      const isThere = target === 'SQLite' || postgres?.available === true;
      it.runIf(isThere)(
        `[D01] [F10] put into ${target} gives the files of messages back`,
        async () => {
          const before = await storeWithFile(database);
          const copy = await copyOf(database.url());
          await before.close();
          const url = await emptyTarget(target);
          await restore(url, copy, { unfinished: 'go-on' });
          const after = await openStore({ url, clock });
          const file = await after.attachments.bytes({ messageSeq: 1, index: 0 });
          expect(Buffer.from(file ?? []).equals(LARGE_FILE)).toBe(true);
          expect(await after.files.missing()).toBe(0);
          await after.close();
        },
      );
    }

    it('[F18] leaves out a file that may be seen once, and is restored all the same', async () => {
      const before = await storeWithFile(database, { viewOnce: true });
      expect(await before.attachments.bytes({ messageSeq: 1, index: 0 })).not.toBeNull();
      const copy = await copyOf(database.url());
      await before.close();
      const cells = copy.rows.flatMap(({ rows }) => rows.flat());
      const bytes = cells.flatMap((cell) => (cell instanceof Uint8Array ? [...cell] : []));
      expect(bytes).toEqual([]);
      expect(JSON.stringify(cells)).not.toContain('the key of the file');
      const url = await emptyTarget('SQLite');
      await restore(url, copy, { unfinished: 'go-on' });
      const after = await openStore({ url, clock });
      expect(await after.attachments.bytes({ messageSeq: 1, index: 0 })).toBeNull();
      await after.close();
    });

    it('[D01] leaves out a file that is gone, and is restored all the same', async () => {
      const before = await storeWithFile(database);
      const named = await before.files.named();
      const copy = await copyOf(database.url());
      await before.close();
      const rows = copy.rows.filter(({ table }) => table.name !== 'file_piece');
      expect(rows).toHaveLength(copy.rows.length - 3);
      const url = await emptyTarget('SQLite');
      await restore(url, { ...copy, rows }, { unfinished: 'go-on' });
      const after = await openStore({ url, clock });
      expect(await after.attachments.bytes({ messageSeq: 1, index: 0 })).toBeNull();
      expect(await after.files.missing()).toBe(named.length);
      await after.close();
    });

    it('of an older Parley is brought up to date, its rows included', async () => {
      await fill(database);
      const copy = await copyOf(database.url());
      const url = await emptyTarget('SQLite');
      const later: Migration = {
        number: (MIGRATIONS.at(-1)?.number ?? 0) + 1,
        name: 'shouting',
        statements: () => ["update memory_entry set words = 'TEA' where words = 'tea'"],
      };
      await restore(url, copy, { unfinished: 'go-on' }, [...MIGRATIONS, later]);
      await using after = await openRaw(url);
      const { memory_entry: memories } = await filledRows(after.database);
      expect(memories).toMatchObject([expect.stringContaining('TEA')]);
      const rows = await rowsIn(
        after.database,
        'select number from parley_migration order by number',
      );
      expect(rows.at(-1)).toEqual({ number: later.number });
    });

    it('from before the first release is refused before anything is touched', async () => {
      await fill(database);
      const { schema, rows } = await copyOf(database.url());
      const refused = restore(database.url(), { schema: { ...schema, steps: [1, 29] }, rows }, {});
      await expect(refused).rejects.toMatchObject({ code: 'store-older' });
      await using after = await openRaw(database.url());
      expect(await numbersOf(after.database)).toEqual([1, 2, 3]);
    });

    it('of a newer Parley is refused before anything is touched', async () => {
      await fill(database);
      const { schema, rows } = await copyOf(database.url());
      const copy = { schema: { ...schema, steps: [...schema.steps, 9_999] }, rows };
      const refused = restore(database.url(), copy, {});
      await expect(refused).rejects.toMatchObject({ code: 'store-newer' });
      await using after = await openRaw(database.url());
      expect(await numbersOf(after.database)).toEqual([1, 2, 3]);
    });

    it('shows one moment: what is written while it is read is wholly out', async () => {
      const store = await database.openEmpty();
      await store.inbox.accept(message('m1'));
      const lease = await hold(store);
      await claim(store, lease, 't1');
      await using snapshot = await openSnapshot(database.url());
      await store.lanes.commit(lease, answer('t1', ['late']), 0);
      await store.inbox.accept(message('m2'));
      const found = new Map<string, number>();
      for await (const { table, rows } of snapshot.rows()) found.set(table.name, rows.length);
      expect(Object.fromEntries(found)).toEqual({ conversation: 1, turn: 1, inbox: 1 });
      await store.close();
    });

    it('repeats nothing: what was not finished in it becomes dead letters', async () => {
      await fill(database);
      const copy = await copyOf(database.url());
      const url = await emptyTarget('SQLite');
      const outcome = await restore(url, copy, { unfinished: 'hold' });
      expect(outcome).toMatchObject({ parts: 2, turns: 1, jobs: 1, aside: null });
      const store = await openStore({ url, clock });
      expect(await store.outbox.counts()).toMatchObject({ pending: 0, sending: 0, unknown: 2 });
      expect(await store.inbox.waiting('c2')).toBe(0);
      expect(await store.deadLetters.counts()).toEqual({ refused: 1, uncertain: 2, unanswered: 1 });
      expect(await store.cronJobs.due(NOW, 9)).toEqual([]);
      expect(await store.cronJobs.nextAt()).toBe(2_000_000_000_000);
      expect(await store.adapterValues('whatsapp', 'default').get('creds', ['creds'])).toEqual(
        new Map(),
      );
      await using after = await openRaw(url);
      for (const table of ['turn', 'heartbeat_run', 'sub_agent'] as const) {
        const rows = await rowsIn(after.database, `select distinct state from ${table}`);
        expect(rows.map(({ state }) => state)).not.toContain('running');
        expect(rows.map(({ state }) => state)).not.toContain('held');
      }
      await store.close();
    });

    it('holds messages that waited for their first turn, and they can be replayed', async () => {
      const store = await database.openEmpty();
      await store.inbox.accept(message('m1'));
      await store.inbox.accept(message('m2'));
      const copy = await copyOf(database.url());
      await store.close();
      const url = await emptyTarget('SQLite');
      expect(await restore(url, copy, { unfinished: 'hold' })).toMatchObject({ turns: 1 });
      const restored = await openStore({ url, clock });
      const [letter] = await restored.deadLetters.open({ limit: 9 });
      expect(letter).toMatchObject({ kind: 'unanswered', messages: [{}, {}] });
      await restored.deadLetters.replay(letter?.id ?? 0, 'once', NOW);
      expect(await restored.inbox.waiting('web:c1')).toBe(2);
      await restored.close();
    });
  });
}

describe.runIf(postgres?.available)('a restore into a PostgreSQL that is at work', () => {
  it('moves what was there aside and fences every turn that runs', async () => {
    const database = postgres ?? bothDatabases(null)[0];
    if (database === undefined) throw new Error('no database');
    const store = await database.openEmpty();
    await store.inbox.accept(message('m1'));
    const copy = await copyOf(database.url());
    const lease = await hold(store);
    await claim(store, lease, 't1');
    const account = await store.leases.acquire('account:web/default', 'p1', 1_000);
    if (account.kind !== 'held') throw new Error('busy');
    const outcome = await restore(database.url(), copy, { unfinished: 'go-on' });
    expect(outcome.aside).toBe('public_before_restore_20270115080000000');
    expect(await store.lanes.commit(lease, answer('t1', ['late']), NOW)).toBe('fenced');
    expect(await store.inbox.waiting('web:c1')).toBe(1);
    expect(await store.leases.renew(account.lease, 1_000)).toBe(true);
    await using after = await openRaw(database.url());
    const rows = await rowsIn(after.database, `select state from ${outcome.aside}.inbox`);
    expect(rows).toEqual([{ state: 'claimed' }]);
    const again = await hold(store);
    expect(again.epoch).toBeGreaterThan(lease.epoch);
    await claim(store, again, 't2');
    expect(await store.lanes.commit(again, answer('t2', ['now']), NOW)).toBe('committed');
  });

  it('[D01] [G16] carries over what people wait for, and drops the letters about it', async () => {
    const database = postgres ?? bothDatabases(null)[0];
    if (database === undefined) throw new Error('no database');
    const store = await database.openEmpty();
    await store.inbox.accept(message('m1'));
    const copy = await copyOf(database.url());
    const lease = await hold(store);
    await claim(store, lease, 't1');
    await store.inbox.accept(message('m2'));
    await store.inbox.accept(message('m3', 'c2'));
    const other = await hold(store, 'web:c2');
    await claim(store, other, 't2');
    await store.lanes.commit(other, answer('t2', ['unsent'], 'c2'), NOW);
    const outcome = await restore(database.url(), copy, { clock: () => NOW + 5_000 });
    const letters = { unanswered: 1, uncertain: 0 };
    expect(outcome.carried).toEqual({ kind: 'carried', messages: 2, parts: 1, letters });
    expect(await store.deadLetters.counts()).toMatchObject({ unanswered: 0, uncertain: 0 });
    expect(await store.outbox.counts()).toMatchObject({ pending: 1 });
    expect(await store.lanes.commit(lease, answer('t1', ['late']), NOW)).toBe('fenced');
    const resumed = await claim(store, await hold(store), 't3');
    expect(resumed).toMatchObject({ turnId: 't1', messages: [{}] });
    expect(await store.inbox.waiting('web:c1')).toBe(1);
  });

  it('[D01] [F10] carries over the files of what people wait for', async () => {
    const database = postgres ?? bothDatabases(null)[0];
    if (database === undefined) throw new Error('no database');
    const empty = await database.openEmpty();
    const copy = await copyOf(database.url());
    await empty.close();
    const store = await storeWithFile(database);
    await restore(database.url(), copy, { clock: () => NOW + 9_000 });
    const file = await store.attachments.bytes({ messageSeq: 1, index: 0 });
    expect(Buffer.from(file ?? []).equals(LARGE_FILE)).toBe(true);
  });

  it('that fails leaves everything as it was', async () => {
    const database = postgres ?? bothDatabases(null)[0];
    if (database === undefined) throw new Error('no database');
    const store = await database.openEmpty();
    await store.inbox.accept(message('m1'));
    const { schema, rows } = await copyOf(database.url());
    const copy = { schema, rows: [...rows, ...rows] };
    await expect(restore(database.url(), copy, {})).rejects.toMatchObject({ code: 'store-failed' });
    expect(await store.inbox.waiting('web:c1')).toBe(1);
    await restore(database.url(), { schema, rows }, { clock: () => NOW + 1_000 });
  });
});

/** Of three pieces. */
const LARGE_FILE = Buffer.from(Array.from({ length: 700_000 }, (_, at) => at % 251));

async function storeWithFile(database: TestDatabase, more: { readonly viewOnce?: true } = {}) {
  const store = await database.openEmpty();
  const plain = message('m1');
  const attachments = [{ kind: 'document', ref: 'the key of the file', ...more } as const];
  await store.inbox.accept({
    ...plain,
    message: { ...plain.message, attachments },
    files: [LARGE_FILE],
  });
  return store;
}

const LEFT_OUT = new Set([
  'lease',
  'process',
  'page_session',
  'sign_in',
  'retention_run',
  'store_state',
  'parley_migration',
  'sqlite_sequence',
  'search_reach',
  'search_entry',
  ...['data', 'idx', 'docsize', 'config'].map((name) => `search_entry_${name}`),
]);

async function fill(database: TestDatabase): Promise<void> {
  await database.openBare();
  await using opened = await openRaw(database.url());
  await migrate(opened.database, MIGRATIONS, 'db', clock);
  await fillTables(opened.database);
  // The newest messages of all were removed; their numbers stay used.
  const last =
    'insert into inbox (seq, conversation_id, channel, account, chat_id, message_id, ' +
    "message, route, received_at, state) values (50, 'c1', 'x', 'x', 'x', 'x', '', '', 0, 'done')";
  await opened.database.write(async (sql) => {
    await sql.run(composed(last));
    await sql.run(composed('delete from inbox where seq = 50'));
    if (opened.database.dialect === 'postgres') {
      await sql.run(composed("select setval('inbox_seq_seq', 50)"));
    }
  });
}

async function copyOf(url: string): Promise<Copy> {
  await using snapshot = await openSnapshot(url);
  const { steps, tables, counters } = snapshot;
  const rows: BackupRows[] = [];
  for await (const some of snapshot.rows()) rows.push(some);
  return { schema: { steps, tables, counters }, rows };
}

function restore(
  url: string,
  { schema, rows }: Copy,
  more: Partial<StoreRestore>,
  migrations = MIGRATIONS,
) {
  const forget = [{ channel: 'whatsapp', kind: 'creds' }];
  const each = async function* () {
    yield* rows;
  };
  return restoreStore(
    { url, clock, schema, rows: each(), unfinished: 'hold', forget, ...more },
    migrations,
  );
}

let targets = 0;
async function emptyTarget(dialect: 'SQLite' | 'PostgreSQL'): Promise<string> {
  targets += 1;
  if (dialect === 'SQLite' || postgres === undefined) {
    return `sqlite:${join(folder, `${targets}.db`)}`;
  }
  await postgres.openBare();
  return postgres.url();
}

async function numbersOf(database: Database): Promise<readonly number[]> {
  const rows = await rowsIn(database, 'select seq from inbox order by seq');
  return rows.map(({ seq }) => Number(seq));
}

async function tablesIn(database: Database): Promise<readonly string[]> {
  const query =
    database.dialect === 'sqlite'
      ? "select name from sqlite_master where type = 'table'"
      : "select tablename as name from pg_tables where schemaname = 'public'";
  return (await rowsIn(database, query)).map(({ name }) => String(name)).toSorted();
}

function rowsIn(database: Database, query: string) {
  return database.read((sql) => sql.all(composed(query).rows<Record<string, SqlValue>>()));
}

async function openRaw(url: string): Promise<AsyncDisposable & { database: Database }> {
  const address = parseStoreUrl(url);
  const database = address.dialect === 'sqlite' ? openSqlite(address) : await openPostgres(address);
  return { database, [Symbol.asyncDispose]: () => database.close() };
}
