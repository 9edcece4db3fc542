import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import type { Client } from 'pg';
import { z } from 'zod';
import { parseStoreUrl, StoreError } from '../database.ts';
import { NO_REF } from '../files/byte-store.ts';
import { filesFolderOf } from '../files/folder-bytes.ts';
import { NAMED } from '../files/stored-files.ts';
import { MIGRATIONS, type Migration, refuseUnknown } from '../migrate.ts';
import { explainPostgresFailure, numberTypes } from '../postgres/open-postgres.ts';
import { explainSqliteFailure } from '../sqlite/open-sqlite.ts';
import { TABLES_IN_BACKUP } from '../tables.ts';
import { FILE_TABLE, filesAsRows } from './file-rows.ts';

/** One value of a row; the same for both databases. */
export type Cell = string | number | Uint8Array | null;

/** A table as a backup holds it; rows give their values in this order of columns. */
export interface BackupTable {
  readonly name: string;
  readonly columns: readonly string[];
}

/** Rows of one table, a few at a time. */
export interface BackupRows {
  readonly table: BackupTable;
  readonly rows: readonly (readonly Cell[])[];
}

/** What a database must say of itself so that its rows can be put into another one. */
export interface BackupSchema {
  /** The numbers of the migrations it has seen. */
  readonly steps: readonly number[];
  readonly tables: readonly BackupTable[];
  /** The last `seq` of each table that has one: numbers are never used twice. */
  readonly counters: Readonly<Record<string, number>>;
}

/** A name within a query. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Files that their senders let be seen once, of turns that are not over (F18). */
const VIEW_ONCE = 'select file_id from attachment where view_once = 1 and file_id is not null';

const WITHOUT_KEYS = `case when view_once = 1 then '${NO_REF}' else ref end as ref`;

/** Whether these tables can say so: those of an older Parley cannot. */
function knowsViewOnce(tables: readonly BackupTable[]): boolean {
  return tables.some(({ name, columns }) => name === 'attachment' && columns.includes('view_once'));
}

/**
 * The query for all rows of a table that a backup takes; in the order of storing, since a row may refer to an earlier
 * one. The bytes of view-once files stay behind, and the keys with which they could be fetched.
 */
function selectAll({ name, columns }: BackupTable, withoutViewOnce: boolean): string {
  const isFiltered = withoutViewOnce && name === FILE_TABLE;
  const where = isFiltered ? ` where file_id not in (${VIEW_ONCE})` : '';
  const order = columns.includes('seq') ? ' order by seq' : '';
  const hasKeys = withoutViewOnce && name === 'attachment';
  const values = columns.map((column) =>
    hasKeys && column === 'ref' ? WITHOUT_KEYS : quoted(column),
  );
  return `select ${values.join(', ')} from ${quoted(name)}${where}${order}`;
}

/** All that one database holds at one moment, while others go on writing to it. */
export interface StoreSnapshot extends BackupSchema, AsyncDisposable {
  readonly dialect: 'sqlite' | 'postgres';
  /** All rows, table after table, some at a time: memory stays bounded by the largest row. */
  rows(): AsyncIterable<BackupRows>;
}

/**
 * Opens a database for reading alone, beside the processes that work with it. Throws StoreErrors:
 * `store-newer` when a newer Parley wrote it, `store-missing` when nothing is there.
 */
export async function openSnapshot(url: string): Promise<StoreSnapshot> {
  const address = parseStoreUrl(url);
  return address.dialect === 'sqlite'
    ? snapshotOfSqlite(address, MIGRATIONS)
    : await snapshotOfPostgres(address, MIGRATIONS);
}

/** Rows are gathered until there are so many, or a value of them is large. */
const ROWS = 200;
const LARGE_BYTES = 256 * 1024;
const BUSY_TIMEOUT_MS = 5_000;

/** A reader of the log sees the database as it was when it began, and holds up no writer. */
function snapshotOfSqlite(
  { path, name }: { readonly path: string; readonly name: string },
  migrations: readonly Migration[],
): StoreSnapshot {
  if (!existsSync(path)) throw new StoreError('store-missing', `There is no database ${name}.`);
  const explain = (thrown: unknown) => explainSqliteFailure(name, thrown);
  let sqlite: DatabaseSync | undefined;
  try {
    sqlite = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    sqlite.exec('begin');
    // The first read fixes what is seen from here on.
    const steps = sqliteSteps(sqlite, migrations, name);
    const tables = sqliteTables(sqlite);
    const counters = sqliteCounters(sqlite);
    const isNewer = knowsViewOnce(tables);
    const hasFiles = tables.some(({ name }) => name === FILE_TABLE);
    const named = hasFiles ? namedFiles(sqlite, isNewer) : [];
    const folder = filesFolderOf({ dialect: 'sqlite', path, name }) ?? '';
    const open = sqlite;
    return {
      dialect: 'sqlite',
      steps,
      tables,
      counters,
      async *rows() {
        try {
          for (const table of tables) {
            yield* sqliteRows(open, table, isNewer);
            if (table.name === FILE_TABLE) yield* filesAsRows(folder, named, table);
          }
        } catch (reason) {
          throw explain(reason);
        }
      },
      async [Symbol.asyncDispose]() {
        open.close();
      },
    };
  } catch (reason) {
    sqlite?.close();
    throw explain(reason);
  }
}

/** The files that rows of this moment name and that a backup takes. */
function namedFiles(sqlite: DatabaseSync, withoutViewOnce: boolean): readonly string[] {
  const idsOf = (query: string, column: string) =>
    sqlite
      .prepare(query)
      .all()
      .map((row) => String(row[column]));
  const left = new Set(withoutViewOnce ? idsOf(VIEW_ONCE, 'file_id') : []);
  return idsOf(NAMED.text, 'id').filter((id) => !left.has(id));
}

function sqliteSteps(sqlite: DatabaseSync, migrations: readonly Migration[], name: string) {
  const rows = sqlite
    .prepare('select number, parley_version from parley_migration order by number')
    .all()
    .map((row) => ({ number: Number(row.number), parley_version: String(row.parley_version) }));
  refuseUnknown(rows, migrations, name);
  return rows.map(({ number }) => number);
}

function sqliteTables(sqlite: DatabaseSync): readonly BackupTable[] {
  return TABLES_IN_BACKUP.map((name) => {
    const columns = sqlite.prepare(`pragma table_info(${quoted(name)})`).all();
    return { name, columns: columns.map((column) => String(column.name)) };
  }).filter(({ columns }) => columns.length > 0);
}

function sqliteCounters(sqlite: DatabaseSync): Readonly<Record<string, number>> {
  const rows = sqlite.prepare('select name, seq from sqlite_sequence').all();
  return Object.fromEntries(
    rows
      .filter((row) => TABLES_IN_BACKUP.some((name) => name === row.name))
      .map((row) => [row.name, Number(row.seq)]),
  );
}

async function* sqliteRows(sqlite: DatabaseSync, table: BackupTable, withoutViewOnce: boolean) {
  let rows: Cell[][] = [];
  for (const row of sqlite.prepare(selectAll(table, withoutViewOnce)).iterate()) {
    const cells = table.columns.map((column) => cellOf(row[column]));
    rows.push(cells);
    if (rows.length < ROWS && !cells.some(isLarge)) continue;
    yield { table, rows };
    rows = [];
    await setImmediate();
  }
  if (rows.length > 0) yield { table, rows };
}

function cellOf(value: unknown): Cell {
  if (typeof value === 'string' || typeof value === 'number' || value === null) return value;
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`a value of the type ${typeof value} is in no table of Parley`);
}

function isLarge(cell: Cell): boolean {
  return cell !== null && typeof cell !== 'number' && cell.length > LARGE_BYTES;
}

const CONNECT_MS = 5_000;
/** For one statement, which may read a large table first; `end` of one that timed out destroys it. */
const QUERY_MS = 10 * 60_000;
/** Rows that are fetched at a time; one, where a row may hold a file. */
const ROWS_AT_A_TIME = 200;

const Cells = z.array(
  z.array(z.union([z.string(), z.number(), z.instanceof(Uint8Array), z.null()])),
);
const Steps = z.array(z.object({ number: z.number(), parley_version: z.string() }));
const Columns = z.array(z.object({ name: z.string(), column: z.string(), type: z.string() }));

/** One transaction that sees one moment; it locks nothing that the running processes need. */
async function snapshotOfPostgres(
  { url, name }: { readonly url: string; readonly name: string },
  migrations: readonly Migration[],
): Promise<StoreSnapshot> {
  const { Client, types } = await import('pg');
  const client = new Client({
    connectionString: url,
    application_name: 'parley backup',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: QUERY_MS,
    types: numberTypes(types),
  });
  // A connection that breaks makes the next query fail, which is explained.
  client.on('error', () => undefined);
  const explain = (thrown: unknown) => explainPostgresFailure(name, thrown);
  try {
    await client.connect();
    await client.query('begin isolation level repeatable read, read only');
    // What disk and network take between two queries is no reason to end the transaction.
    await client.query('set local idle_in_transaction_session_timeout = 0');
    const steps = await postgresSteps(client, migrations, name);
    const { tables, withFiles } = await postgresTables(client);
    const counters = await postgresCounters(client, tables);
    return {
      dialect: 'postgres',
      steps,
      tables,
      counters,
      async *rows() {
        try {
          for (const table of tables) {
            const query = selectAll(table, knowsViewOnce(tables));
            const atATime = withFiles.has(table.name) ? 1 : ROWS_AT_A_TIME;
            yield* postgresRows(client, { table, query, atATime });
          }
        } catch (reason) {
          throw explain(reason);
        }
      },
      [Symbol.asyncDispose]: () => client.end(),
    };
  } catch (reason) {
    await client.end().catch(() => undefined);
    throw explain(reason);
  }
}

async function postgresSteps(client: Client, migrations: readonly Migration[], name: string) {
  const there = await client.query("select to_regclass('parley_migration') is not null as there");
  if (there.rows[0]?.there !== true) {
    throw new StoreError('store-missing', `There is no data of Parley in ${name}.`);
  }
  const { rows } = await client.query(
    'select number, parley_version from parley_migration order by number',
  );
  const steps = Steps.parse(rows);
  refuseUnknown(steps, migrations, name);
  return steps.map(({ number }) => number);
}

/** Other programs may have tables beside ours. */
async function postgresTables(client: Client) {
  const { rows } = await client.query(
    `select table_name as name, column_name as column, data_type as type
    from information_schema.columns where table_schema = current_schema() order by ordinal_position`,
  );
  const columns = Columns.parse(rows);
  const found = TABLES_IN_BACKUP.map((name): BackupTable => {
    const its = columns.filter((column) => column.name === name);
    return { name, columns: its.map(({ column }) => column) };
  }).filter((table) => table.columns.length > 0);
  const files = columns.filter(({ type }) => type === 'bytea').map(({ name }) => name);
  return { tables: found, withFiles: new Set(files) };
}

async function postgresCounters(client: Client, tables: readonly BackupTable[]) {
  const counters: Record<string, number> = {};
  for (const { name, columns } of tables) {
    if (!columns.includes('seq')) continue;
    const sequence = await client.query(`select pg_get_serial_sequence($1, 'seq') as name`, [
      quoted(name),
    ]);
    const { rows } = await client.query(
      `select case when is_called then last_value else 0 end as last from ${sequence.rows[0]?.name}`,
    );
    counters[name] = Number(rows[0]?.last);
  }
  return counters;
}

interface Reading {
  readonly table: BackupTable;
  readonly query: string;
  readonly atATime: number;
}

async function* postgresRows(client: Client, { table, query, atATime }: Reading) {
  await client.query(`declare copied no scroll cursor for ${query}`);
  for (;;) {
    const { rows } = await client.query({ text: `fetch ${atATime} from copied`, rowMode: 'array' });
    if (rows.length > 0) yield { table, rows: Cells.parse(rows) };
    if (rows.length < atATime) break;
  }
  await client.query('close copied');
}
