import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '@parley/core';
import {
  type Database,
  defineDynamicStatement,
  parseStoreUrl,
  type Sql,
  StoreError,
} from '../database.ts';
import { splitIntoPieces } from '../files/piece-bytes.ts';
import {
  applyMigrations,
  createMigrationTable,
  lockMigrations,
  MIGRATIONS,
  refuseNonEmptyServer,
} from '../migrate.ts';
import { openPostgres } from '../postgres/open-postgres.ts';
import { INTRODUCE } from '../store-state.ts';
import { TABLES, TABLES_IN_BACKUP } from '../tables.ts';
import { FILE_TABLE } from './files.ts';
import { formatRestoredName } from './restore.ts';
import { type BackupTable, type CellValue, insertRows, quoteIdentifier } from './rows.ts';

/**
 * Throws StoreError `store-not-empty` if the PostgreSQL database contains Parley data, so that
 * nothing is overwritten.
 */
export async function refuseNonEmptyPostgres(url: string): Promise<void> {
  await withPostgres(url, (database, name) => refuseNonEmptyServer(database, name));
}

/**
 * Copies a fully migrated SQLite file and its accompanying files into an empty PostgreSQL database,
 * in one transaction. `beforeCommit` runs inside the transaction after all rows are copied; if it
 * throws, nothing is copied.
 */
export async function copyToPostgres(
  path: string,
  url: string,
  clock: Clock,
  beforeCommit: () => void = () => undefined,
): Promise<void> {
  const source = new DatabaseSync(path, { readOnly: true });
  try {
    await withPostgres(url, async (database, name) => {
      await database.writeUnlimited(async (sql) => {
        await lockMigrations(database, sql);
        await refuseNonEmptyServer(database, name);
        // Reading from disk between two statements may be slow and must not time out the
        // transaction.
        await sql.run(defineDynamicStatement('set local idle_in_transaction_session_timeout = 0'));
        await createMigrationTable(sql);
        await applyMigrations(database, sql, MIGRATIONS, clock());
        for (const name of TABLES_IN_BACKUP) {
          const table = { name, columns: Object.keys(TABLES[name].columns) };
          await copyTable(database, sql, source, table);
        }
        await copyDatabaseFiles(database, sql, path);
        sql.send(INTRODUCE, { name: formatRestoredName(clock), counter: 0 });
        beforeCommit();
      });
    });
  } finally {
    source.close();
  }
}

async function withPostgres(
  url: string,
  work: (database: Database, name: string) => Promise<void>,
): Promise<void> {
  const address = parseStoreUrl(url);
  if (address.dialect !== 'postgres')
    throw new StoreError('store-url', `${url} is not a PostgreSQL URL`);
  const database = await openPostgres(address);
  try {
    await work(database, address.name);
  } finally {
    await database.close();
  }
}

/** The maximum number of rows in a batch; a large value ends the batch earlier. */
const ROWS = 200;
const LARGE_BYTES = 256 * 1024;

/**
 * Copies rows in the order in which they were stored, because a row may refer to an earlier one.
 */
async function copyTable(
  database: Database,
  sql: Sql,
  source: DatabaseSync,
  table: BackupTable,
): Promise<void> {
  const hasNumbers = table.columns.includes('seq');
  const names = table.columns.map(quoteIdentifier).join(', ');
  const query = `select ${names} from ${quoteIdentifier(table.name)}${hasNumbers ? ' order by seq' : ''}`;
  let rows: (readonly CellValue[])[] = [];
  for (const row of source.prepare(query).iterate()) {
    const cells = table.columns.map((column) => toCellValue(row[column]));
    rows.push(cells);
    if (rows.length < ROWS && !cells.some(isLargeCell)) continue;
    await insertRows(database, sql, { table, rows });
    rows = [];
  }
  await insertRows(database, sql, { table, rows });
  if (hasNumbers) await setCounter(sql, source, table.name);
}

function toCellValue(value: unknown): CellValue {
  if (typeof value === 'string' || typeof value === 'number' || value === null) return value;
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`no Parley table contains values of type ${typeof value}`);
}

function isLargeCell(cell: CellValue): boolean {
  return cell !== null && typeof cell !== 'number' && cell.length > LARGE_BYTES;
}

/**
 * Sets a table's sequence counter, because numbers are never reused, not even those of removed
 * rows.
 */
async function setCounter(sql: Sql, source: DatabaseSync, table: string): Promise<void> {
  const row = source.prepare('select seq from sqlite_sequence where name = ?').get(table);
  const last = Number(row?.seq ?? 0);
  const set = `select setval(pg_get_serial_sequence(:table, 'seq'), ${Math.max(last, 1)}, ${last > 0})`;
  await sql.run(defineDynamicStatement(set), { table: quoteIdentifier(table) });
}

async function copyDatabaseFiles(database: Database, sql: Sql, path: string): Promise<void> {
  const folder = `${path}-files`;
  const table = { name: FILE_TABLE, columns: ['file_id', 'piece_index', 'bytes'] };
  for (const id of existsSync(folder) ? await readdir(folder) : []) {
    for (const [index, piece] of splitIntoPieces(await readFile(join(folder, id)))) {
      await insertRows(database, sql, { table, rows: [[id, index, piece]] });
    }
  }
}
