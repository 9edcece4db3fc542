import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '@parley/core';
import { StoreError } from '../database.ts';
import { MIGRATIONS, migrate, readAppliedMigrations } from '../migrate.ts';
import { openSqlite } from '../sqlite/open-sqlite.ts';
import { TABLE_LIST } from '../tables.ts';
import { quoteIdentifier } from './rows.ts';

/** Whether a SQLite file has migrations that this version of Parley does not know. */
export function hasNewerSchema(path: string): boolean {
  const known = new Set(MIGRATIONS.map(({ number }) => number));
  return (readAppliedMigrations(path) ?? []).some(({ number }) => !known.has(number));
}

/**
 * Copies the data of a newer version of Parley into a new file with the schema of this version, so
 * that an upgrade can be undone without losing what has been accepted, answered and sent since.
 * Tables and columns that only the newer version has are left out; the search index is rebuilt at
 * the next start. `from` is not changed, and no process may use it.
 *
 * Throws StoreError `store-no-way-back` if the newer version has no such table or column any more,
 * or stores values there that this version does not accept.
 */
export async function copyIntoOlderSchema(
  from: string,
  to: string,
  clock: Clock,
): Promise<{ readonly rows: number }> {
  for (const end of ['', '-wal', '-shm']) rmSync(`${to}${end}`, { force: true });
  const database = openSqlite({ path: to, name: to });
  try {
    await migrate(database, MIGRATIONS, to, clock);
  } finally {
    await database.close();
  }
  const sqlite = new DatabaseSync(to, { enableForeignKeyConstraints: false });
  try {
    sqlite.prepare('attach database ? as newer').run(from);
    const rows = copyTables(sqlite);
    sqlite.exec('detach database newer; pragma journal_mode = delete');
    return { rows };
  } catch (reason) {
    const said = reason instanceof Error ? reason.message : String(reason);
    throw new StoreError(
      'store-no-way-back',
      `The data of the newer version in ${from} does not fit into the schema of this version (${said}).`,
      reason,
    );
  } finally {
    sqlite.close();
  }
}

function copyTables(sqlite: DatabaseSync): number {
  let rows = 0;
  sqlite.exec('begin immediate');
  for (const [name, { columns }] of TABLE_LIST) {
    // Their rows describe the schema, or an index that is rebuilt.
    if (name === 'parley_migration' || name.startsWith('search_')) continue;
    const list = Object.keys(columns).map(quoteIdentifier);
    sqlite.exec(`delete from main.${name}`);
    const copied = sqlite
      .prepare(
        `insert into main.${name} (${list}) select ${list.map((one) => `n.${one}`)} from newer.${name} n`,
      )
      .run();
    rows += Number(copied.changes);
  }
  // Numbers are never reused, not even those of removed rows.
  sqlite.exec(`delete from main.sqlite_sequence where name in (select name from newer.sqlite_sequence);
    insert into main.sqlite_sequence (name, seq) select name, seq from newer.sqlite_sequence
    where name in (select name from main.sqlite_schema)`);
  const broken = sqlite.prepare('pragma main.foreign_key_check').all();
  if (broken.length > 0) throw new Error(`${broken.length} rows refer to missing rows`);
  sqlite.exec('commit');
  return rows;
}

/** Moves the write-ahead log of a SQLite file that no process uses into the file itself. */
export function mergeLog(path: string): void {
  const sqlite = new DatabaseSync(path);
  try {
    sqlite.exec('pragma wal_checkpoint(truncate); pragma journal_mode = delete');
  } finally {
    sqlite.close();
  }
}
