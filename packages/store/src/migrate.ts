import type { Clock } from '@parley/contracts';
import manifest from '../package.json' with { type: 'json' };
import type { Database, Sql } from './database.ts';
import { raw } from './kysely.ts';
import type { Migration } from './migrations.ts';
import { StoreError } from './store-error.ts';

/** Any number that no other program on the same PostgreSQL is likely to lock. */
const MIGRATION_LOCK = 7_275_395;

/**
 * Brings the schema up to date in one transaction: after a failed step, or a kill in the middle, the
 * database is as it was, and the Parley before this one still starts on it. Throws StoreError
 * `store-newer`, having changed nothing, for a newer Parley's database.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  name: string,
  clock: Clock,
): Promise<void> {
  if (database.dialect === 'postgres' && (await isUpToDate(database, migrations, name))) return;
  await database.writeLong(async (sql) => {
    await onlyOne(database, sql);
    await makeLedger(sql);
    const applied = await sql
      .selectFrom('parley_migration')
      .select(['number', 'parley_version'])
      .execute();
    refuseNewer(applied, migrations, name);
    const done = new Set(applied.map(({ number }) => number));
    const missing = migrations.filter(({ number }) => !done.has(number));
    await applySteps(database, sql, missing, clock());
  });
}

/** Looked at first, within the usual deadline: most starts find nothing to do. */
async function isUpToDate(
  database: Database,
  migrations: readonly Migration[],
  name: string,
): Promise<boolean> {
  return database.read(async (sql) => {
    const { rows } = await raw<{ there: boolean }>`
      select to_regclass('parley_migration') is not null as there`.execute(sql);
    if (rows[0]?.there !== true) return false;
    const applied = await sql
      .selectFrom('parley_migration')
      .select(['number', 'parley_version'])
      .execute();
    refuseNewer(applied, migrations, name);
    return applied.length === migrations.length;
  });
}

/** The table that says which steps a database has seen. */
export async function makeLedger(sql: Sql): Promise<void> {
  await raw`create table if not exists parley_migration (
    number bigint not null primary key,
    name text not null,
    parley_version text not null,
    applied_at bigint not null
  )`.execute(sql);
}

/** A step that a database has seen. */
export interface AppliedStep {
  readonly number: number;
  readonly parley_version: string;
}

/** The newest step that was applied and that this Parley does not know. */
export function newerStep(
  applied: readonly AppliedStep[],
  migrations: readonly Migration[],
): AppliedStep | null {
  const known = new Set(migrations.map(({ number }) => number));
  const unknown = applied.filter(({ number }) => !known.has(number));
  return unknown.toSorted((a, b) => b.number - a.number)[0] ?? null;
}

/** Throws StoreError `store-newer` when a step was applied that this Parley does not know. */
export function refuseNewer(
  applied: readonly AppliedStep[],
  migrations: readonly Migration[],
  name: string,
): void {
  const unknown = newerStep(applied, migrations);
  if (unknown === null) return;
  throw new StoreError(
    'store-newer',
    `The data in ${name} was written by Parley ${unknown.parley_version}, which is newer than this one ` +
      `(${manifest.version}). Nothing was changed. Update Parley, or use another data folder.`,
  );
}

/**
 * On PostgreSQL several processes may start at once, and the first may take long: the others wait for
 * it however long that is. On SQLite the transaction is the lock.
 */
export async function onlyOne(database: Database, sql: Sql): Promise<void> {
  if (database.dialect !== 'postgres') return;
  await raw`set local lock_timeout = 0`.execute(sql);
  // Of a process that was killed the server would finish the step first; known since version 14.
  await raw`select set_config(name, '1000', true) from pg_settings
    where name = 'client_connection_check_interval'`.execute(sql);
  await raw`select pg_advisory_xact_lock(${raw.lit(MIGRATION_LOCK)})`.execute(sql);
}

/** Takes these steps, in their order, in the caller's transaction. */
export async function applySteps(
  database: Database,
  sql: Sql,
  steps: readonly Migration[],
  now: number,
): Promise<void> {
  for (const { number, name, statements } of steps) {
    for (const statement of statements(database.dialect)) await raw.raw(statement).execute(sql);
    await sql
      .insertInto('parley_migration')
      .values({ number, name, parley_version: manifest.version, applied_at: now })
      .execute();
  }
}

/** Which migrations a database has seen, and by which Parley. */
export interface MigrationTable {
  number: number;
  name: string;
  parley_version: string;
  applied_at: number;
}
