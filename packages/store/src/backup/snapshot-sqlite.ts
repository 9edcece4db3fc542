import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { StoreError } from '../database.ts';
import { refuseUnknown } from '../migrate.ts';
import type { Migration } from '../migrations.ts';
import { explainSqliteFailure } from '../sqlite/sqlite-failure.ts';
import type { StoreSnapshot } from './snapshot.ts';
import { type BackupTable, type Cell, isCopied, quoted, selectAll, tablesOf } from './tables.ts';

/** Rows are gathered until there are so many, or a value of them is large. */
const ROWS = 200;
const LARGE_BYTES = 256 * 1024;
const BUSY_TIMEOUT_MS = 5_000;

/** A reader of the log sees the database as it was when it began, and holds up no writer. */
export function snapshotOfSqlite(
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
    const steps = stepsOf(sqlite, migrations, name);
    const tables = tablesIn(sqlite, tablesOf(migrations));
    const counters = countersOf(sqlite);
    const open = sqlite;
    return {
      dialect: 'sqlite',
      steps,
      tables,
      counters,
      async *rows() {
        try {
          for (const table of tables) yield* rowsOf(open, table);
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

function stepsOf(sqlite: DatabaseSync, migrations: readonly Migration[], name: string) {
  const rows = sqlite
    .prepare('select number, parley_version from parley_migration order by number')
    .all()
    .map((row) => ({ number: Number(row.number), parley_version: String(row.parley_version) }));
  refuseUnknown(rows, migrations, name);
  return rows.map(({ number }) => number);
}

function tablesIn(sqlite: DatabaseSync, ours: readonly string[]): readonly BackupTable[] {
  return ours
    .filter(isCopied)
    .map((name) => {
      const columns = sqlite.prepare(`pragma table_info(${quoted(name)})`).all();
      return { name, columns: columns.map((column) => String(column.name)) };
    })
    .filter(({ columns }) => columns.length > 0);
}

function countersOf(sqlite: DatabaseSync): Readonly<Record<string, number>> {
  const rows = sqlite.prepare('select name, seq from sqlite_sequence').all();
  return Object.fromEntries(
    rows.filter((row) => isCopied(String(row.name))).map((row) => [row.name, Number(row.seq)]),
  );
}

async function* rowsOf(sqlite: DatabaseSync, table: BackupTable) {
  let rows: Cell[][] = [];
  for (const row of sqlite.prepare(selectAll(table)).iterate()) {
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
