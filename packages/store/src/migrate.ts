import type { Clock } from '@parley/contracts';
import manifest from '../package.json' with { type: 'json' };
import type { Database, Sql } from './database.ts';
import { raw } from './kysely.ts';
import type { Migration } from './migrations.ts';
import { StoreError } from './store-error.ts';

/** Any number that no other program on the same PostgreSQL is likely to lock. */
const MIGRATION_LOCK = 7_275_395;

/**
 * Brings the schema up to date, one transaction per step, so that a failed step leaves the state
 * before it. Throws StoreError `store-newer`, having changed nothing, for a newer Parley's database.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  name: string,
  clock: Clock,
): Promise<void> {
  await database.write(async (sql) => {
    await onlyOne(database, sql);
    await raw`create table if not exists parley_migration (
      number bigint not null primary key,
      name text not null,
      parley_version text not null,
      applied_at bigint not null
    )`.execute(sql);
  });
  const known = migrations.at(-1)?.number ?? 0;
  for (const migration of migrations) {
    await database.write(async (sql) => {
      await onlyOne(database, sql);
      const newest = await newestApplied(sql);
      if (newest !== undefined && newest.number > known) throw tooNew(name, newest.parley_version);
      if (migration.number > (newest?.number ?? 0)) await apply(database, sql, migration, clock());
    });
  }
}

/** On PostgreSQL several processes may start at once; on SQLite the transaction is the lock. */
async function onlyOne(database: Database, sql: Sql): Promise<void> {
  if (database.dialect === 'postgres') {
    await raw`select pg_advisory_xact_lock(${raw.lit(MIGRATION_LOCK)})`.execute(sql);
  }
}

async function newestApplied(sql: Sql) {
  return await sql
    .selectFrom('parley_migration')
    .select(['number', 'parley_version'])
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
}

async function apply(
  database: Database,
  sql: Sql,
  migration: Migration,
  now: number,
): Promise<void> {
  for (const statement of migration.statements(database.dialect)) {
    await raw.raw(statement).execute(sql);
  }
  await sql
    .insertInto('parley_migration')
    .values({
      number: migration.number,
      name: migration.name,
      parley_version: manifest.version,
      applied_at: now,
    })
    .execute();
}

function tooNew(name: string, writtenBy: string): StoreError {
  return new StoreError(
    'store-newer',
    `The data in ${name} was written by Parley ${writtenBy}, which is newer than this one ` +
      `(${manifest.version}). Nothing was changed. Update Parley, or use another data folder.`,
  );
}
