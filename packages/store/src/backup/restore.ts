import type { Clock } from '@parley/contracts';
import type { Database, Sql } from '../database.ts';
import { raw } from '../kysely.ts';
import { applySteps, makeLedger, onlyOne } from '../migrate.ts';
import { MIGRATIONS } from '../migrations.ts';
import { openPostgres } from '../postgres/open-postgres.ts';
import { openSqlite } from '../sqlite/open-sqlite.ts';
import { StoreError } from '../store-error.ts';
import { parseStoreUrl } from '../store-url.ts';
import type { CarriedOver } from './carry-over.ts';
import { type ForgottenValues, type HeldBack, holdBack } from './hold-back.ts';
import { enterStaging, freeLanes, putInPlace } from './put-in-place.ts';
import { type BackupRows, type BackupSchema, type Cell, quoted } from './tables.ts';

/** What is to be put into a database. */
export interface StoreRestore {
  /** On SQLite a file that does not exist yet; on PostgreSQL what is there is moved aside. */
  readonly url: string;
  readonly clock: Clock;
  readonly schema: BackupSchema;
  readonly rows: AsyncIterable<BackupRows>;
  /**
   * `hold`: what was not finished in the backup may have been done since, so it becomes dead letters.
   * `go-on`: nothing has happened since; everything goes on where it was.
   */
  readonly unfinished: 'hold' | 'go-on';
  /** Values of adapters that say how far they had read; dropped with `hold`. */
  readonly forget: readonly ForgottenValues[];
  /** Called on PostgreSQL right before the commit, with the id by which `commitFate` knows it later. */
  readonly beforeCommit?: (transaction: string) => void;
}

/**
 * `aside`: the schema of PostgreSQL in which the rows from before are now, and what of them was `carried` over;
 * null where there were none.
 */
export interface RestoredStore extends HeldBack {
  readonly aside: string | null;
  readonly carried: CarriedOver | null;
}

/**
 * Puts the rows of a backup into a database, in one transaction: all of it, or nothing. A backup of an
 * older Parley is migrated in it. Throws StoreErrors; `store-newer` before anything is touched.
 */
export async function restoreStore(restore: StoreRestore): Promise<RestoredStore> {
  const { schema, clock } = restore;
  refuseUnknownSteps(schema.steps);
  const address = parseStoreUrl(restore.url);
  const database = address.dialect === 'sqlite' ? openSqlite(address) : await openPostgres(address);
  try {
    return await database.writeLong(async (sql) => {
      await onlyOne(database, sql);
      const target = await enterStaging(database, sql, address.name, clock());
      const known = new Set(schema.steps);
      await makeLedger(sql);
      const [seen, unseen] = [true, false].map((is) =>
        MIGRATIONS.filter(({ number }) => known.has(number) === is),
      );
      await applySteps(database, sql, seen ?? [], clock());
      for await (const { table, rows } of restore.rows) {
        for (const some of inBatches(rows, table.columns.length)) {
          await insert(database, sql, table.name, table.columns, some);
        }
      }
      await setCounters(database, sql, schema.counters);
      await applySteps(database, sql, unseen ?? [], clock());
      const held = await unfinishedOf(restore, sql);
      await freeLanes(sql);
      const placed = await putInPlace(database, sql, target, restore);
      if (target !== null) restore.beforeCommit?.(await transactionId(sql));
      return { ...held, ...placed };
    });
  } finally {
    await database.close();
  }
}

async function transactionId(sql: Sql): Promise<string> {
  const { rows } = await raw<{ id: string }>`select txid_current()::text as id`.execute(sql);
  return rows[0]?.id ?? '';
}

/** What became of a transaction of PostgreSQL; null when the server no longer knows it. */
export async function commitFate(
  url: string,
  transaction: string,
): Promise<'committed' | 'aborted' | 'in progress' | null> {
  const address = parseStoreUrl(url);
  if (address.dialect === 'sqlite') return null;
  const database = await openPostgres(address);
  try {
    const { rows } = await database.read((sql) =>
      raw<{
        fate: 'committed' | 'aborted' | 'in progress' | null;
      }>`select txid_status(${transaction}::bigint) as fate`.execute(sql),
    );
    return rows[0]?.fate ?? null;
  } finally {
    await database.close();
  }
}

/** Throws StoreError `store-newer` for rows of a Parley that has migrations which this one does not know. */
export function refuseUnknownSteps(steps: readonly number[]): void {
  const known = new Set(MIGRATIONS.map(({ number }) => number));
  const unknown = steps.filter((step) => !known.has(step)).at(-1);
  if (unknown === undefined) return;
  throw new StoreError(
    'store-newer',
    `The backup is of a newer Parley than this one (its database has step ${unknown}). Nothing was changed. Update Parley first.`,
  );
}

async function unfinishedOf(restore: StoreRestore, sql: Sql): Promise<HeldBack> {
  if (restore.unfinished === 'go-on') return { parts: 0, turns: 0, jobs: 0 };
  return await holdBack(sql, restore.forget, restore.clock());
}

/** Both databases take at most 32,766 values in one statement. */
const MOST_VALUES = 10_000;
const MOST_ROWS = 100;

function* inBatches(rows: BackupRows['rows'], columns: number) {
  const size = Math.min(MOST_ROWS, Math.floor(MOST_VALUES / columns));
  for (let from = 0; from < rows.length; from += size) yield rows.slice(from, from + size);
}

async function insert(
  { dialect }: Database,
  sql: Sql,
  table: string,
  columns: readonly string[],
  rows: BackupRows['rows'],
): Promise<void> {
  const names = raw.raw(columns.map(quoted).join(', '));
  const values = rows.map(
    (row) => raw`(${raw.join(dialect === 'postgres' ? row.map(withoutNul) : row)})`,
  );
  await raw`insert into ${raw.table(table)} (${names}) values ${raw.join(values)}`.execute(sql);
}

/** The one character that PostgreSQL keeps in no text. */
function withoutNul(cell: Cell): Cell {
  return typeof cell === 'string' ? cell.replaceAll('\0', '') : cell;
}

async function setCounters(
  { dialect }: Database,
  sql: Sql,
  counters: BackupSchema['counters'],
): Promise<void> {
  for (const [table, last] of Object.entries(counters)) {
    if (dialect === 'postgres') {
      await raw`select setval(pg_get_serial_sequence(${quoted(table)}, 'seq'),
        ${raw.lit(Math.max(last, 1))}, ${raw.lit(last > 0)})`.execute(sql);
      continue;
    }
    await raw`delete from sqlite_sequence where name = ${table}`.execute(sql);
    await raw`insert into sqlite_sequence (name, seq) values (${table}, ${last})`.execute(sql);
  }
}
