import { rmSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { NO_REF } from '../files/byte-store.ts';
import { NAMED } from '../files/stored-files.ts';
import { MIGRATIONS, refuseUnknownMigration } from '../migrate.ts';
import { explainSqliteFailure } from '../sqlite/open-sqlite.ts';
import { listTableNames, TABLE_LIST } from '../tables.ts';
import { quoteIdentifier } from './rows.ts';

interface DatabaseCopy {
  /** The numbers of the migrations applied to the copy. */
  readonly steps: readonly number[];
  /** Ids of the files that belong in the backup because rows refer to them. */
  readonly files: readonly string[];
}

/**
 * More pages than any database has, so that one step copies them all and the copy is a snapshot.
 */
const ALL_PAGES = 2 ** 31 - 1;
const BUSY_TIMEOUT_MS = 5_000;

/**
 * Copies a SQLite file while other processes use it, without the rows that a backup must not
 * contain. First, a thread in Node's pool copies all pages; reading the write-ahead log blocks no
 * writer. Then the excluded rows are deleted from that copy, and the rest is written to `target`,
 * whose pages therefore never contained a deleted row. Throws StoreErrors, for example
 * `store-newer` if a newer version of Parley wrote the file.
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
    // The intermediate file is deleted afterwards, so it does not need a journal.
    sqlite.exec('pragma journal_mode = off');
    const steps = readMigrationNumbers(sqlite, name);
    for (const [name, table] of TABLE_LIST) {
      // Migration numbers are kept, because a restore needs them to interpret the other tables.
      if (table.notInBackup === undefined || name === 'parley_migration') continue;
      for (const known of listTableNames(name, table)) deleteAllRows(sqlite, known);
    }
    const files = excludeViewOnceFiles(sqlite);
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
  refuseUnknownMigration(rows, MIGRATIONS, name);
  return rows.map(({ number }) => number);
}

/**
 * In a database created by an older version of Parley, the table may be missing or have its former
 * name.
 */
function deleteAllRows(sqlite: DatabaseSync, table: string): void {
  if (listColumns(sqlite, table).length === 0) return;
  // A plain delete from a contentless index would only mark rows as deleted.
  const deletion =
    table === 'search_entry'
      ? "insert into search_entry (search_entry) values ('delete-all')"
      : `delete from ${quoteIdentifier(table)}`;
  sqlite.exec(deletion);
}

/**
 * Leaves out the view-once files in unfinished turns (F18), together with the keys that could fetch
 * them. Returns the ids of the files that belong in the backup.
 */
function excludeViewOnceFiles(sqlite: DatabaseSync): readonly string[] {
  const columns = listColumns(sqlite, 'attachment');
  // An older version of Parley stored the bytes in the rows.
  if (!columns.includes('file_id')) return [];
  if (!columns.includes('view_once')) return listIds(sqlite, NAMED.text);
  sqlite.prepare('update attachment set ref = ? where view_once = 1').run(NO_REF);
  const left = listIds(
    sqlite,
    'select file_id as id from attachment where view_once = 1 and file_id is not null',
  );
  return listIds(sqlite, NAMED.text).filter((id) => !left.includes(id));
}

function listIds(sqlite: DatabaseSync, query: string): readonly string[] {
  return sqlite
    .prepare(query)
    .all()
    .map(({ id }) => String(id));
}

function listColumns(sqlite: DatabaseSync, table: string): readonly string[] {
  const columns = sqlite.prepare('select name from pragma_table_info(?)').all(table);
  return columns.map(({ name }) => String(name));
}
