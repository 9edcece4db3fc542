import type { Clock } from '@parley/core';
import { defineStatement } from '../database.ts';
import {
  applyMigrations,
  createMigrationTable,
  MIGRATIONS,
  migrate,
  refuseUnknownMigration,
} from '../migrate.ts';
import { openSqlite } from '../sqlite/open-sqlite.ts';
import { INTRODUCE } from '../store-state.ts';
import { FILE_TABLE, writeRowsAsFiles } from './files.ts';
import { type BackupRows, type BackupTable, insertRows } from './rows.ts';
import {
  type ForgottenValues,
  freeLanes,
  type HeldWorkCounts,
  settleUnfinishedWork,
} from './settle-unfinished.ts';

/** The schema of a 0.1.0 backup, which contains rows instead of a SQLite file. */
export interface BackupSchema {
  /** The numbers of the migrations applied to the backup. */
  readonly steps: readonly number[];
  readonly tables: readonly BackupTable[];
  /** The last `seq` of each table that has one, because numbers are never reused. */
  readonly counters: Readonly<Record<string, number>>;
}

/**
 * Creates a SQLite file, and the folder for its files, from the rows of a 0.1.0 backup. The
 * backup's migrations are recorded as applied.
 */
export async function createDatabaseFromRows(
  path: string,
  { steps, counters }: BackupSchema,
  rows: AsyncIterable<BackupRows>,
  clock: Clock,
): Promise<void> {
  const database = openSqlite({ path, name: path });
  try {
    await database.write(async (sql) => {
      await createMigrationTable(sql);
      const seen = MIGRATIONS.filter(({ number }) => steps.includes(number));
      await applyMigrations(database, sql, seen, clock());
      for await (const some of rows) {
        if (some.table.name === FILE_TABLE) await writeRowsAsFiles(`${path}-files`, some);
        else await insertRows(database, sql, some);
      }
      for (const [table, last] of Object.entries(counters)) {
        sql.send(FORGET_COUNTER, { table });
        sql.send(SET_COUNTER, { table, last });
      }
    });
  } finally {
    await database.close();
  }
}

const FORGET_COUNTER = defineStatement('delete from sqlite_sequence where name = :table');

const SET_COUNTER = defineStatement(
  'insert into sqlite_sequence (name, seq) values (:table, :last)',
);

/** A database restored from a backup, before it replaces the current one. */
interface RestoredDatabase {
  readonly path: string;
  readonly clock: Clock;
  /**
   * `hold`: unfinished work becomes dead letters, because it may have been done since the backup.
   * `go-on`: nothing has run since the backup, so all work resumes.
   */
  readonly unfinished: 'hold' | 'go-on';
  /** Adapter values that record how far an adapter has read; `hold` drops them. */
  readonly forget: readonly ForgottenValues[];
}

/** Migrates a restored file and settles its unfinished work. */
export async function prepareRestoredDatabase(
  { path, clock, unfinished, forget }: RestoredDatabase,
  migrations = MIGRATIONS,
): Promise<HeldWorkCounts> {
  const database = openSqlite({ path, name: path });
  try {
    await migrate(database, migrations, path, clock);
    return await database.write(async (sql) => {
      // Gives the database a new name, so that no process mistakes it for the previous database or
      // settles it again.
      sql.send(INTRODUCE, { name: formatRestoredName(clock), counter: 0 });
      if (unfinished === 'hold') return settleUnfinishedWork(sql, forget, clock());
      freeLanes(sql);
      return { parts: 0, turns: 0, jobs: 0 };
    });
  } finally {
    await database.close();
  }
}

/** The name that a database gets in `store_state` after a restore. */
export function formatRestoredName(clock: Clock): string {
  return `restored_${clock()}`;
}

/**
 * Throws StoreError `store-newer` or `store-older` if the backup contains migrations that are
 * unknown to this version of Parley.
 */
export function refuseUnknownMigrations(
  steps: readonly number[],
  parley: string,
  file: string,
): void {
  const applied = steps.map((number) => ({ number, parley_version: parley }));
  refuseUnknownMigration(applied, MIGRATIONS, file);
}
