import type { Clock } from '@parley/core';
import {
  composed,
  type Database,
  parseStoreUrl,
  type Sql,
  type SqlValue,
  StoreError,
  statement,
} from '../database.ts';
import { filesFolderOf } from '../files/folder-bytes.ts';
import { APPLIED, applySteps, MIGRATIONS, makeLedger, onlyOne, refuseUnknown } from '../migrate.ts';
import { openPostgres } from '../postgres/open-postgres.ts';
import { openSqlite } from '../sqlite/open-sqlite.ts';
import { INTRODUCE } from '../store-state.ts';
import { TABLES } from '../tables.ts';
import { FILE_TABLE, makeFilesFolder, rowsAsFiles } from './file-rows.ts';
import { type BackupRows, type BackupSchema, type Cell, quoted } from './snapshot.ts';
import {
  type CarriedOver,
  type CarryOrder,
  carryOver,
  type ForgottenValues,
  freeLanes,
  type HeldBack,
  settleUnfinished,
} from './unfinished.ts';

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
interface RestoredStore extends HeldBack {
  readonly aside: string | null;
  readonly carried: CarriedOver | null;
}

/**
 * Puts the rows of a backup into a database, in one transaction: all of it, or nothing. A backup of an
 * older Parley is migrated in it. Throws StoreErrors; `store-newer` before anything is touched.
 */
export async function restoreStore(
  restore: StoreRestore,
  migrations = MIGRATIONS,
): Promise<RestoredStore> {
  const { schema, clock } = restore;
  refuseUnknownSteps(schema.steps, migrations);
  const address = parseStoreUrl(restore.url);
  const database = address.dialect === 'sqlite' ? openSqlite(address) : await openPostgres(address);
  const folder = filesFolderOf(address);
  try {
    return await database.writeLong(async (sql) => {
      await onlyOne(database, sql);
      const target = await enterStaging(database, sql, address.name, clock());
      const known = new Set(schema.steps);
      await makeLedger(sql);
      const seen = migrations.filter(({ number }) => known.has(number));
      const unseen = migrations.filter(({ number }) => !known.has(number));
      await applySteps(database, sql, seen, clock());
      if (folder !== null) await makeFilesFolder(folder);
      for await (const { table, rows } of restore.rows) {
        if (folder !== null && table.name === FILE_TABLE) {
          await rowsAsFiles(folder, { table, rows });
          continue;
        }
        for (const some of inBatches(rows, table.columns.length)) {
          await insert(database, sql, table.name, table.columns, some);
        }
      }
      await setCounters(database, sql, schema.counters);
      await applySteps(database, sql, unseen, clock());
      const held =
        restore.unfinished === 'go-on'
          ? { parts: 0, turns: 0, jobs: 0 }
          : await settleUnfinished(sql, restore.forget, clock());
      if (restore.unfinished === 'go-on') freeLanes(sql);
      // Under another name, so that no process takes it for the one that it knows and settles it again.
      sql.send(INTRODUCE, { name: `restored_${clock()}`, counter: 0 });
      const placed = await putInPlace(database, sql, target, restore);
      if (target !== null) restore.beforeCommit?.((await sql.get(TRANSACTION))?.id ?? '');
      return { ...held, ...placed };
    });
  } finally {
    await database.close();
  }
}

const TRANSACTION = statement('select cast(txid_current() as text) as id').rows<{
  readonly id: string;
}>();

type Fate = 'committed' | 'aborted' | 'in progress' | null;

const FATE = statement('select txid_status(cast(:transaction as bigint)) as fate').rows<{
  readonly fate: Fate;
}>();

/** What became of a transaction of PostgreSQL; null when the server no longer knows it. */
export async function commitFate(url: string, transaction: string): Promise<Fate> {
  const address = parseStoreUrl(url);
  if (address.dialect === 'sqlite') return null;
  const database = await openPostgres(address);
  try {
    return (await database.read((sql) => sql.get(FATE, { transaction })))?.fate ?? null;
  } finally {
    await database.close();
  }
}

/** Throws StoreError `store-newer` or `store-older` for rows of a Parley with steps that this one does not know. */
export function refuseUnknownSteps(steps: readonly number[], migrations = MIGRATIONS): void {
  const known = new Set(migrations.map(({ number }) => number));
  const unknown = steps.filter((step) => !known.has(step)).at(-1);
  if (unknown === undefined) return;
  const [code, by, remedy] =
    unknown > (migrations.at(-1)?.number ?? 0)
      ? (['store-newer', 'a newer Parley than this one', 'Update Parley first.'] as const)
      : (['store-older', 'a Parley from before 0.1.0', 'Restore it with that Parley.'] as const);
  throw new StoreError(
    code,
    `The backup is of ${by} (its database has step ${unknown}). Nothing was changed. ${remedy}`,
  );
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
  const values: Record<string, SqlValue> = {};
  const lines = rows.map((row, nth) => {
    const names = row.map((cell, column) => {
      values[`v${nth}_${column}`] = dialect === 'postgres' ? withoutNul(cell) : cell;
      return `:v${nth}_${column}`;
    });
    return `(${names.join(', ')})`;
  });
  const names = columns.map(quoted).join(', ');
  const insert = `insert into ${quoted(table)} (${names}) values ${lines.join(', ')}`;
  await sql.run(composed(insert), values);
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
      const number = `${Math.max(last, 1)}, ${last > 0}`;
      const set = `select setval(pg_get_serial_sequence(:table, 'seq'), ${number})`;
      await sql.run(composed(set), { table: quoted(table) });
      continue;
    }
    sql.send(FORGET_COUNTER, { table });
    sql.send(SET_COUNTER, { table, last });
  }
}

const FORGET_COUNTER = statement('delete from sqlite_sequence where name = :table');

const SET_COUNTER = statement('insert into sqlite_sequence (name, seq) values (:table, :last)');

/** The schemas of PostgreSQL that a restore works with; null on SQLite, which has a file of its own. */
interface Staging {
  readonly live: string;
  readonly staging: string;
  readonly aside: string;
}

/**
 * On PostgreSQL the rows are put into a schema of their own first, so that processes which run meanwhile
 * have to wait for the exchange at the end alone. Throws StoreError `store-newer` for the data of a newer Parley.
 */
async function enterStaging(
  { dialect }: Database,
  sql: Sql,
  name: string,
  now: number,
): Promise<Staging | null> {
  if (dialect === 'sqlite') return null;
  const { live } = (await sql.get(CURRENT)) ?? { live: 'public' };
  if ((await presentIn(sql, live, ['parley_migration'])).length > 0) {
    refuseUnknown(await sql.all(APPLIED), MIGRATIONS, name);
  }
  const stamp = new Date(now).toISOString().replaceAll(/\D/g, '');
  const staging = `${live}_restoring`;
  // It waits for nothing but the disk of this process.
  await sql.run(composed('set local idle_in_transaction_session_timeout = 0'));
  await sql.run(composed(`create schema ${quoted(staging)}`));
  await sql.run(composed(`set local search_path to ${quoted(staging)}`));
  return { live, staging, aside: `${live}_before_restore_${stamp}` };
}

const CURRENT = statement('select current_schema() as live').rows<{ readonly live: string }>();

const tableIn = (schema: string, table: string) => `${quoted(schema)}.${quoted(table)}`;

/** `aside`: the schema of what was there before; `carried`: what of it goes on. Null where there was nothing. */
interface PutInPlace {
  readonly aside: string | null;
  readonly carried: CarriedOver | null;
}

/**
 * Exchanges the tables: what was live lies in a schema aside, whole, and nothing is deleted. Running
 * workers are fenced: the epoch of every lane is past the one they hold.
 */
async function putInPlace(
  database: Database,
  sql: Sql,
  target: Staging | null,
  order: CarryOrder,
): Promise<PutInPlace> {
  if (target === null) return { aside: null, carried: null };
  const { live, staging, aside } = target;
  let carried: CarriedOver | null = null;
  const ours = Object.keys(TABLES);
  const old = await presentIn(sql, live, ours);
  if (old.length > 0) {
    const names = old.map((table) => tableIn(live, table)).join(', ');
    await sql.run(composed(`lock table ${names} in access exclusive mode`));
    if (old.includes('conversation')) await passEpochs(sql, target);
    if (old.includes('parley_migration')) carried = await carryOver(database, sql, live, order);
    // Who holds a channel goes on holding it, and knows nothing of the exchange.
    for (const table of ['lease', 'process'].filter((name) => old.includes(name))) {
      const [to, from] = [tableIn(staging, table), tableIn(live, table)];
      await sql.run(composed(`insert into ${to} select * from ${from}`));
    }
    await sql.run(composed(`create schema ${quoted(aside)}`));
  }
  await move(sql, old, live, aside);
  await move(sql, ours, staging, live);
  await sql.run(composed(`drop schema ${quoted(staging)}`));
  return { aside: old.length > 0 ? aside : null, carried };
}

async function presentIn(sql: Sql, schema: string, tables: readonly string[]) {
  const there = new Set((await sql.all(TABLES_IN, { schema })).map(({ name }) => name));
  return tables.filter((name) => there.has(name));
}

const TABLES_IN = statement(
  'select tablename as name from pg_tables where schemaname = :schema',
).rows<{
  readonly name: string;
}>();

async function passEpochs(sql: Sql, { live, staging }: Staging): Promise<void> {
  await sql.run(
    composed(`update ${tableIn(staging, 'conversation')} restored
      set epoch = greatest(restored.epoch, before.epoch + 1)
      from ${tableIn(live, 'conversation')} before where before.id = restored.id`),
  );
}

async function move(sql: Sql, tables: readonly string[], from: string, to: string) {
  for (const table of tables) {
    await sql.run(composed(`alter table ${tableIn(from, table)} set schema ${quoted(to)}`));
  }
}
