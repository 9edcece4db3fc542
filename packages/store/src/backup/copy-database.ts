import { rmSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { NO_REF } from '../files/byte-store.ts';
import { NAMED } from '../files/stored-files.ts';
import { MIGRATIONS, refuseUnknown } from '../migrate.ts';
import { explainSqliteFailure } from '../sqlite/open-sqlite.ts';
import { namesOf, TABLE_LIST } from '../tables.ts';
import { quoteIdentifier } from './rows.ts';

/** The description of a copy. */
interface DatabaseCopy {
  /** The numbers of the migrations that it has seen. */
  readonly steps: readonly number[];
  /** The files that its rows name and that belong into the backup. */
  readonly files: readonly string[];
}

/** More pages than a database has: with all of them in one step, the copy shows one moment. */
const ALL_PAGES = 2 ** 31 - 1;
const BUSY_TIMEOUT_MS = 5_000;

/**
 * Copies a SQLite file beside the processes that work with it, without what a backup must not hold. First a thread of
 * Node's pool copies all pages; a reader of the log holds up no writer. Then rows are deleted from that copy, and what
 * is left is written to `target`, so that no page of it ever held a deleted row. Throws StoreErrors: `store-newer`
 * when a newer Parley wrote it.
 */
export async function copyDatabase(path: string, target: string): Promise<DatabaseCopy> {
  const whole = `${target}.whole`;
  try {
    await copyPages(path, whole);
    return writeBackup(whole, target, path);
  } catch (reason) {
    throw explainSqliteFailure(path, reason);
  } finally {
    rmSync(whole, { force: true });
  }
}

async function copyPages(from: string, to: string): Promise<void> {
  const source = new DatabaseSync(from, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    await backup(source, to, { rate: ALL_PAGES });
  } finally {
    source.close();
  }
}

function writeBackup(whole: string, target: string, name: string): DatabaseCopy {
  const sqlite = new DatabaseSync(whole, { enableForeignKeyConstraints: false });
  try {
    // Nothing of this file outlives the backup, so it needs no journal.
    sqlite.exec('pragma journal_mode = off');
    const steps = readMigrationNumbers(sqlite, name);
    for (const [name, table] of TABLE_LIST) {
      // The migrations say how a restore reads the others.
      if (table.notInBackup === undefined || name === 'parley_migration') continue;
      for (const known of namesOf(name, table)) deleteAll(sqlite, known);
    }
    const files = leaveOutViewOnce(sqlite);
    sqlite.prepare('vacuum into ?').run(target);
    return { steps, files };
  } finally {
    sqlite.close();
  }
}

function readMigrationNumbers(sqlite: DatabaseSync, name: string): readonly number[] {
  const rows = sqlite
    .prepare('select number, parley_version from parley_migration order by number')
    .all()
    .map((row) => ({ number: Number(row.number), parley_version: String(row.parley_version) }));
  refuseUnknown(rows, MIGRATIONS, name);
  return rows.map(({ number }) => number);
}

/** A database of an older Parley may lack the table, or have it under its former name. */
function deleteAll(sqlite: DatabaseSync, table: string): void {
  if (columnsOf(sqlite, table).length === 0) return;
  // Deleting the rows of an index without texts would only mark them as deleted.
  const deletion =
    table === 'search_entry'
      ? "insert into search_entry (search_entry) values ('delete-all')"
      : `delete from ${quoteIdentifier(table)}`;
  sqlite.exec(deletion);
}

/**
 * Files that their senders let be seen once, of turns that are not over (F18), stay behind, with the keys by which they
 * could be fetched. Returns the files that belong into the backup.
 */
function leaveOutViewOnce(sqlite: DatabaseSync): readonly string[] {
  const columns = columnsOf(sqlite, 'attachment');
  // An older Parley kept the bytes in the rows.
  if (!columns.includes('file_id')) return [];
  if (!columns.includes('view_once')) return idsIn(sqlite, NAMED.text);
  sqlite.prepare('update attachment set ref = ? where view_once = 1').run(NO_REF);
  const left = idsIn(
    sqlite,
    'select file_id as id from attachment where view_once = 1 and file_id is not null',
  );
  return idsIn(sqlite, NAMED.text).filter((id) => !left.includes(id));
}

function idsIn(sqlite: DatabaseSync, query: string): readonly string[] {
  return sqlite
    .prepare(query)
    .all()
    .map(({ id }) => String(id));
}

function columnsOf(sqlite: DatabaseSync, table: string): readonly string[] {
  const columns = sqlite.prepare('select name from pragma_table_info(?)').all(table);
  return columns.map(({ name }) => String(name));
}
