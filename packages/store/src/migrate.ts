import { copyFileSync, linkSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { Clock } from '@parley/core';
import manifest from '../package.json' with { type: 'json' };
import {
  type Database,
  defineDynamicStatement,
  defineStatement,
  IN_MEMORY,
  type Sql,
  StoreError,
} from './database.ts';
import { listMigrationStatements, MAKE_LEDGER } from './tables/statements.ts';

/**
 * An arbitrary lock number that no other program on the same PostgreSQL server is likely to use.
 */
const MIGRATION_LOCK = 7_275_395;

/**
 * Brings the schema up to date in one transaction. If a step fails or the process is killed, the
 * database is unchanged and the previous version of Parley still starts on it. Throws StoreError
 * `store-newer` or `store-older` for a database with unknown migrations, without changing it.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  name: string,
  clock: Clock,
): Promise<void> {
  if (database.dialect === 'postgres' && (await isUpToDate(database, migrations, name))) return;
  await database.writeUnlimited(async (sql) => {
    await lockMigrations(database, sql);
    await createMigrationTable(sql);
    const applied = await sql.all(APPLIED);
    refuseUnknownMigration(applied, migrations, name);
    const done = new Set(applied.map(({ number }) => number));
    const missing = migrations.filter(({ number }) => !done.has(number));
    await applyMigrations(database, sql, missing, clock());
  });
}

/**
 * Checks for pending migrations with the usual query timeout, because there are none at most
 * starts. Throws the same errors as `migrate`.
 */
export async function isUpToDate(
  database: Database,
  migrations: readonly Migration[],
  name: string,
): Promise<boolean> {
  return database.read(async (sql) => {
    if ((await sql.get(IS_THERE))?.there !== true) return false;
    const applied = await sql.all(APPLIED);
    refuseUnknownMigration(applied, migrations, name);
    return applied.length === migrations.length;
  });
}

const IS_THERE = defineStatement(
  "select to_regclass('parley_migration') is not null as there",
).rows<{
  readonly there: boolean;
}>();

/**
 * Throws StoreError `store-missing` if a SQLite file that has been used before is missing or empty.
 */
export function refuseMissingFile(path: string, name: string): void {
  if (path !== IN_MEMORY && getDatabaseFileSize(path) === 0) throw createMissingDatabaseError(name);
}

/** Like `refuseMissingFile`, for a database on a server that does not contain Parley's tables. */
export async function refuseEmptyServer(database: Database, name: string): Promise<void> {
  const row = await database.read((sql) => sql.get(IS_THERE));
  if (row?.there !== true) throw createMissingDatabaseError(name);
}

/**
 * Throws StoreError `store-not-empty` if the database on a server already contains Parley's tables.
 */
export async function refuseNonEmptyServer(database: Database, name: string): Promise<void> {
  const row = await database.read((sql) => sql.get(IS_THERE));
  if (row?.there !== true) return;
  throw new StoreError(
    'store-not-empty',
    `${name} already contains Parley data. Nothing was changed. Restore into an empty database: create another one and enter it as store.url, or restore this one with pg_restore.`,
  );
}

function createMissingDatabaseError(name: string): StoreError {
  return new StoreError(
    'store-missing',
    `${name} is empty or missing, but this data folder has been used with it before. Nothing was changed.`,
  );
}

/** Creates the table that records the applied migrations. */
export async function createMigrationTable(sql: Sql): Promise<void> {
  await sql.run(MAKE_LEDGER_STATEMENT);
}

const MAKE_LEDGER_STATEMENT = defineDynamicStatement(MAKE_LEDGER);

/** An applied migration. */
interface AppliedMigration {
  readonly number: number;
  readonly parley_version: string;
}

const APPLIED = defineDynamicStatement(
  'select number, parley_version from parley_migration order by number',
).rows<AppliedMigration>();

/** Finds the newest applied migration that is unknown to this version of Parley. */
export function findNewerMigration(
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
): AppliedMigration | null {
  const newest = migrations.at(-1)?.number ?? 0;
  const newer = applied.filter(({ number }) => number > newest);
  return newer.toSorted((a, b) => b.number - a.number)[0] ?? null;
}

/**
 * Throws StoreError `store-newer` or `store-older` if an applied migration is unknown to this
 * version of Parley.
 */
export function refuseUnknownMigration(
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
  name: string,
): void {
  const newer = findNewerMigration(applied, migrations);
  if (newer !== null) {
    throw new StoreError(
      'store-newer',
      `The data in ${name} was written by Parley ${newer.parley_version}, which is newer than this one ` +
        `(${manifest.version}). Nothing was changed. Update Parley, or use another data folder.`,
    );
  }
  const known = new Set(migrations.map(({ number }) => number));
  if (applied.every(({ number }) => known.has(number))) return;
  throw new StoreError(
    'store-older',
    `The data in ${name} was written by a Parley older than 0.1.0, and this version (${manifest.version}) cannot ` +
      'read it. Nothing was changed. Use another data folder, or keep using the version that wrote it.',
  );
}

/**
 * Ensures that only one process migrates at a time. On PostgreSQL, other processes wait until the
 * first one has finished; on SQLite, the transaction is the lock.
 */
export async function lockMigrations(database: Database, sql: Sql): Promise<void> {
  if (database.dialect !== 'postgres') return;
  await sql.run(defineDynamicStatement('set local lock_timeout = 0'));
  // Stops the server from first finishing the statement of a killed process; available since
  // version 14.
  await sql.run(
    defineDynamicStatement(`select set_config(name, '1000', true) from pg_settings
      where name = 'client_connection_check_interval'`),
  );
  await sql.run(defineDynamicStatement(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`));
}

/** Applies migrations in order, in the caller's transaction. */
export async function applyMigrations(
  database: Database,
  sql: Sql,
  steps: readonly Migration[],
  now: number,
): Promise<void> {
  for (const { number, name, statements } of steps) {
    for (const text of statements(database.dialect)) await sql.run(defineDynamicStatement(text));
    await sql.run(APPLY, { number, name, version: manifest.version, now });
  }
}

const APPLY =
  defineDynamicStatement(`insert into parley_migration (number, name, parley_version, applied_at)
  values (:number, :name, :version, :now)`);

/** A schema migration, which is never edited once released. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  /** Builds the statements for one dialect. */
  readonly statements: (dialect: Database['dialect']) => readonly string[];
}

/**
 * All migrations in the order in which they are applied; their statements are defined with the
 * tables. The first one creates the tables of 0.1.0; lower numbers belong to earlier versions.
 */
export const MIGRATIONS: readonly Migration[] = (
  [
    [31, 'schema'],
    [32, 'agents'],
    [33, 'state'],
    [34, 'files'],
    [35, 'put-off'],
    [36, 'words'],
    [37, 'view-once files'],
    [38, 'names'],
    [39, 'takeovers'],
    [40, 'takeovers and older workers'],
    [41, 'inbox'],
  ] as const
).map(([number, name]) => ({
  number,
  name,
  statements: (dialect) => listMigrationStatements(number, dialect),
}));

/** A write-ahead log is usually a few megabytes; copying a much larger one would delay startup. */
const LARGEST_LOG_BYTES = 64 * 1024 * 1024;

/**
 * Reads the migrations applied to a SQLite file without writing to it or its side files. Opening
 * the file normally would write to it, because SQLite recovers the log that a killed process left
 * behind. Null if the migrations cannot be read (no such file, not a database, a file system
 * without links); opening the file then decides.
 */
export function readAppliedMigrations(path: string): readonly AppliedMigration[] | null {
  try {
    if (getDatabaseFileSize(path) === 0) return null;
    const log = getDatabaseFileSize(`${path}-wal`);
    if (log > LARGEST_LOG_BYTES) return null;
    return log === 0 ? readMigrationsWithoutLog(path) : readMigrationsFromLogCopy(path);
  } catch {
    // If the file cannot be read, opening it fails too and reports the reason.
    return null;
  }
}

function getDatabaseFileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Without a log the file is complete, so SQLite need neither lock it nor create side files. */
function readMigrationsWithoutLog(path: string): readonly AppliedMigration[] {
  const url = pathToFileURL(path);
  url.searchParams.set('immutable', '1');
  return listAppliedMigrations(new DatabaseSync(url, { readOnly: true }));
}

/**
 * SQLite finds the log by the file's name, so this code reads a copy of the log beside a second
 * name for the same file.
 */
function readMigrationsFromLogCopy(path: string): readonly AppliedMigration[] {
  const folder = mkdtempSync(join(dirname(path), '.look-'));
  try {
    const other = join(folder, basename(path));
    linkSync(path, other);
    copyFileSync(`${path}-wal`, `${other}-wal`);
    return listAppliedMigrations(new DatabaseSync(other, { readOnly: true }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function listAppliedMigrations(sqlite: DatabaseSync): readonly AppliedMigration[] {
  try {
    const rows = sqlite.prepare('select number, parley_version from parley_migration').all();
    return rows.map((row) => ({
      number: Number(row.number),
      parley_version: String(row.parley_version),
    }));
  } finally {
    sqlite.close();
  }
}
