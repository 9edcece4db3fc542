import { hash, randomBytes } from 'node:crypto';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type Clock, silentLogger } from '@parley/core';
import { isDueToday } from '@parley/core/testing';
import { Client } from 'pg';
import { expect } from 'vitest';
import { type Database, defineDynamicStatement, parseStoreUrl } from '../database.ts';
import { openStore } from '../open-store.ts';
import { openPostgres } from '../postgres/open-postgres.ts';
import { createStore, type Store } from '../store.ts';
import { StoreState } from '../store-state.ts';
import { createTimedIds } from '../timed-ids.ts';
import { watchDatabase } from '../watch-database.ts';

/** One kind of database for one test file; the tables are created once. */
export interface TestDatabase {
  readonly name: 'SQLite' | 'PostgreSQL';
  /**
   * False if the machine has no database server; the runner then skips and reports tests that need
   * one.
   */
  readonly available: boolean;
  /** Opens an empty store. A test that changes the schema must call `openBare` instead. */
  openEmpty(): Promise<Store>;
  /** Creates a database without tables; `url` then returns its address. */
  openBare(): Promise<void>;
  /** Sets the lease clock of an open store to this time, in ms; it starts at 0. */
  setTime(now: number): void;
  /** The URL of the database that `openEmpty` most recently opened. */
  url(): string;
  dispose(): Promise<void>;
}

/**
 * Returns both kinds of database, so that one suite runs on each. `postgresUrl` is
 * `inject('postgresUrl')`.
 */
export function listBothDatabases(postgresUrl: string | null): readonly TestDatabase[] {
  return [createSqliteForTests(), createPostgresForTests(postgresUrl)];
}

/**
 * Returns both kinds of database for the suites of one half of the files, and SQLite alone for the
 * other half; the halves alternate daily.
 */
export function listDatabasesOfDay(postgresUrl: string | null): readonly TestDatabase[] {
  const { testPath = '' } = expect.getState();
  const nth = hash('sha256', basename(testPath), 'buffer').readUInt32BE();
  return isDueToday(nth, 2) ? listBothDatabases(postgresUrl) : [createSqliteForTests()];
}

/** Creates a SQLite database in a separate folder. */
export function createSqliteForTests(): TestDatabase {
  const folders: string[] = [];
  const stores: Store[] = [];
  let template: string | undefined;
  let now = 0;
  const url = () => `sqlite:${join(folders.at(-1) ?? '', 'parley.db')}`;
  return {
    name: 'SQLite',
    available: true,
    url,
    setTime(time) {
      now = time;
    },
    async openBare() {
      folders.push(mkdtempSync(join(tmpdir(), 'parley-store-')));
    },
    async openEmpty() {
      now = 0;
      if (template === undefined) {
        await this.openBare();
        template = join(folders.at(-1) ?? '', 'parley.db');
        await (await openStore({ url: url(), clock: () => 0 })).close();
      }
      await this.openBare();
      copyFileSync(template, join(folders.at(-1) ?? '', 'parley.db'));
      const store = await openStore({ url: url(), clock: () => now });
      stores.push(store);
      return store;
    },
    async dispose() {
      for (const store of stores) await store.close();
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A separate database on the given server, created on first use. */
function createPostgresForTests(serverUrl: string | null): TestDatabase {
  const name = `parley_store_${randomBytes(6).toString('hex')}`;
  let now = 0;
  let made = false;
  let hasTables = false;
  const url = () => Object.assign(new URL(serverUrl ?? ''), { pathname: `/${name}` }).href;
  const kept = createSharedConnections(url);
  return {
    name: 'PostgreSQL',
    available: serverUrl !== null,
    url,
    setTime(time) {
      now = time;
    },
    async openBare() {
      if (!made) await executeStatements(serverUrl ?? '', `create database ${name}`);
      made = true;
      hasTables = false;
      await kept.close();
      await executeStatements(url(), 'drop schema public cascade; create schema public');
    },
    async openEmpty() {
      now = 0;
      const clock = () => now;
      if (hasTables) await kept.emptyAll();
      else {
        await this.openBare();
        await (await openStore({ url: url(), clock })).close();
      }
      hasTables = true;
      return kept.openStore(clock);
    },
    async dispose() {
      await kept.close();
      if (made) await executeStatements(serverUrl ?? '', `drop database ${name} with (force)`);
    },
  };
}

/**
 * Connections shared by the stores of individual tests, because opening a connection takes the
 * server as long as a whole test. Tests that close their store close these connections.
 */
function createSharedConnections(url: () => string) {
  let database: Database | undefined;
  let emptying: Client | undefined;
  const closeDatabase = async (): Promise<void> => {
    const closing = database;
    database = undefined;
    await closing?.close();
  };
  return {
    async openStore(clock: Clock): Promise<Store> {
      const address = parseStoreUrl(url());
      const shared = database ?? (await openPostgres({ url: url(), name: address.name }));
      database = shared;
      const close = () => (database === shared ? closeDatabase() : shared.close());
      const watched = watchDatabase({ ...shared, close }, address, silentLogger);
      const newId = createTimedIds(clock);
      const state = new StoreState(watched, { clock, newId, forget: [], onSetback() {} });
      watched.onConnect((write) => state.check(write));
      return createStore(watched, newId, { sharedClock: clock, state });
    },
    async emptyAll(): Promise<void> {
      if (emptying === undefined) {
        emptying = new Client({ connectionString: url() });
        await emptying.connect();
      }
      await emptying.query(EMPTY_ALL);
    },
    async close(): Promise<void> {
      await closeDatabase();
      await emptying?.end();
      emptying = undefined;
    },
  };
}

/**
 * Deletes all rows except the list of migrations, and restarts the numbering. Creating the database
 * again would take a hundred times as long, and truncating its tables several times as long. A
 * single statement deletes from all tables, because rows refer to each other.
 */
const EMPTY_ALL = `do $$
  declare
    name regclass;
    holds_rows boolean;
    deletions text[];
  begin
    for name in select oid from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'parley_migration'
    loop
      execute format('select exists (select from %s)', name) into holds_rows;
      if holds_rows then deletions := deletions || format('%I as (delete from %s)', 'deleted_' || name, name); end if;
    end loop;
    if deletions is not null then
      execute format('with %s select', array_to_string(deletions, ', '));
    end if;
    for name in select oid from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'S'
    loop
      perform setval(name, 1, false);
    end loop;
  end
$$`;

async function executeStatements(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

const OF_SQLITE = defineDynamicStatement(`select type, name, sql from sqlite_master
  where name not like 'sqlite_%' order by type, name`).rows<object>();

const OF_POSTGRES =
  defineDynamicStatement(`select 'column' as type, table_name || '.' || column_name as name,
    concat_ws(' ', data_type, is_nullable, column_default) as sql
  from information_schema.columns where table_schema = current_schema()
  union all select 'index', indexname, indexdef from pg_indexes where schemaname = current_schema()
  union all select 'constraint', cast(cast(conrelid as regclass) as text) || '.' || conname, pg_get_constraintdef(oid)
  from pg_constraint where connamespace = cast(current_schema() as regnamespace)
  order by 1, 2, 3`).rows<object>();

/** Reads a database's tables, columns, indexes and constraints, for comparison. */
export async function readSchema(database: Database): Promise<readonly object[]> {
  const query = database.dialect === 'sqlite' ? OF_SQLITE : OF_POSTGRES;
  return database.read((sql) => sql.all(query));
}
