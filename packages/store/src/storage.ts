import { type Database, defineDynamicStatement, defineStatement, type Sql } from './database.ts';
import { type FolderUsage, measureFolder } from './files/folder-bytes.ts';
import {
  boundOf,
  buildOldRowsCondition,
  computeAgeCutoff,
  RETENTION_RULES,
  type RetentionAges,
  type RetentionRule,
} from './retention-rules.ts';
import { TABLE_LIST } from './tables.ts';

/** The space used by a table, including its indexes. */
export interface TableUsage {
  readonly table: string;
  readonly bytes: number;
  readonly rows: number;
  /** The age limits that apply to the table, or a description of what else limits it. */
  readonly bound: readonly (keyof RetentionAges)[] | string;
  /** The rows and bytes that the next thorough round would remove. */
  readonly old: { readonly rows: number; readonly bytes: number };
}

/** The space used by a database. */
export interface StorageUsage {
  /** Tables and the space they use, largest first. */
  readonly tables: readonly TableUsage[];
  /** The size of the database on disk, in bytes, without SQLite's log. */
  readonly bytes: number;
  /** The number of bytes that are free for new rows; null if the database does not report it. */
  readonly freeBytes: number | null;
  /**
   * The message files in the folder beside the database; null if they are in the `file_piece`
   * table.
   */
  readonly files: FolderUsage | null;
}

/** Reads without a time limit; on SQLite, a transaction that may write would block answers. */
function readWithoutTimeout<T>(database: Database, work: (sql: Sql) => Promise<T>): Promise<T> {
  return database.dialect === 'sqlite' ? database.read(work) : database.writeUnlimited(work);
}

/**
 * Measures each table; this reads the whole database, so only a process without other work should
 * call it.
 */
export async function measureStorage(
  database: Database,
  folder: string | null,
  { ages, now }: { readonly ages: RetentionAges; readonly now: number },
): Promise<StorageUsage> {
  const sizes = await (database.dialect === 'sqlite' ? measureSqlite : measurePostgres)(database);
  const rules = new Map(RETENTION_RULES.map((rule) => [rule.table, rule]));
  const kept = new Map<string, string>(
    TABLE_LIST.map(([name, { kept }]) => [name, typeof kept === 'string' ? kept : '']),
  );
  const tables: TableUsage[] = [];
  for (const [table, bytes] of sizes.tables) {
    const rule = rules.get(table);
    const { rows, old } = await countTableRows(
      database,
      table,
      rule,
      rule && computeAgeCutoff(rule, ages, now),
    );
    const bound = rule?.keeps ?? kept.get(table) ?? '';
    const oldBytes = rows === 0 ? 0 : Math.round((bytes * old) / rows);
    tables.push({ table, bytes, rows, bound, old: { rows: old, bytes: oldBytes } });
  }
  const { bytes, freeBytes } = sizes;
  const files = folder === null ? null : await measureFolder(folder);
  return { tables: tables.sort((a, b) => b.bytes - a.bytes), bytes, freeBytes, files };
}

async function countTableRows(
  database: Database,
  table: string,
  rule: RetentionRule | undefined,
  before = 0,
): Promise<{ readonly rows: number; readonly old: number }> {
  const old =
    rule === undefined
      ? '0'
      : `(select count(*) from ${table} where ${buildOldRowsCondition(rule)})`;
  const count = defineDynamicStatement(`select count(*) as "rows", ${old} as "old" from ${table}`);
  const bound = rule === undefined ? {} : { bound: boundOf(rule, before - (rule.longer ?? 0)) };
  const counted = count.rows<{ readonly rows: number; readonly old: number }>();
  return (
    (await readWithoutTimeout(database, (sql) => sql.get(counted, bound))) ?? { rows: 0, old: 0 }
  );
}

interface DatabaseSizes {
  readonly tables: ReadonlyMap<string, number>;
  readonly bytes: number;
  readonly freeBytes: number | null;
}

const PAGES = defineStatement(`
  select page_count * page_size as bytes, freelist_count * page_size as free
  from pragma_page_count, pragma_page_size, pragma_freelist_count`).rows<{
  readonly bytes: number;
  readonly free: number;
}>();

interface TableSize {
  readonly name: string;
  readonly bytes: number;
}

const SQLITE_SIZES = defineStatement(`
  select tbl_name as name, sum(pgsize) as bytes
  from dbstat join sqlite_schema using (name)
  where aggregate = 1 and tbl_name not like 'sqlite_%' group by tbl_name`).rows<TableSize>();

async function measureSqlite(database: Database): Promise<DatabaseSizes> {
  const rows = await readWithoutTimeout(database, (sql) => sql.all(SQLITE_SIZES));
  const { bytes = 0, free = 0 } = (await database.read((sql) => sql.get(PAGES))) ?? {};
  const tables = new Map<string, number>();
  for (const row of rows) {
    // The internal tables of FTS5 are counted as one table.
    const name = row.name.replace(/^search_entry_\w+$/, 'search_entry');
    tables.set(name, (tables.get(name) ?? 0) + row.bytes);
  }
  return { tables, bytes, freeBytes: free };
}

const POSTGRES_SIZES = defineStatement(`
  select relname as name, pg_total_relation_size(oid) as bytes from pg_class
  where relkind = 'r' and relnamespace = cast(current_schema() as regnamespace)`).rows<TableSize>();

async function measurePostgres(database: Database): Promise<DatabaseSizes> {
  const rows = await database.read((sql) => sql.all(POSTGRES_SIZES));
  const tables = new Map(rows.map((row) => [row.name, row.bytes]));
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
  return { tables, bytes, freeBytes: null };
}

/**
 * Measures the size of the stored rows in bytes, accurately enough to compare it with `most`.
 * PostgreSQL does not return space to the disk or report how much of a file is free, so the size is
 * estimated there as the number of rows times the size of the newest rows.
 */
export async function measureBytesUsed(database: Database, most: number): Promise<number> {
  if (database.dialect === 'sqlite') {
    const { bytes = 0, free = 0 } = (await database.read((sql) => sql.get(PAGES))) ?? {};
    return bytes - free;
  }
  const { bytes } = await measurePostgres(database);
  if (bytes <= most) return bytes;
  let used = 0;
  for (const rule of RETENTION_RULES) used += await estimateRowCount(database, rule);
  return Math.min(bytes, used);
}

const SAMPLE = 200;
/** The bytes of a row in addition to its columns: header and pointer. */
const ROW_BYTES = 28;

async function estimateRowCount(database: Database, { table, by }: RetentionRule): Promise<number> {
  const newest = by.map((name) => `${name} desc`).join(', ');
  const estimate = defineDynamicStatement(`
    select n_live_tup * (1 + cast(pg_indexes_size(relid) as float8) / greatest(pg_table_size(relid), 1))
      * (select avg(pg_column_size(newest.*)) + ${ROW_BYTES} from
        (select * from ${table} order by ${newest} limit ${SAMPLE}) as newest) as bytes
    from pg_stat_user_tables where schemaname = current_schema() and relname = :table`);
  const estimated = estimate.rows<{ readonly bytes: number | null }>();
  return (await database.read((sql) => sql.get(estimated, { table })))?.bytes ?? 0;
}
