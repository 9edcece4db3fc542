import type { Migration } from '../migrate.ts';

/** One value of a row; the same for both databases. */
export type Cell = string | number | Uint8Array | null;

/** A table as a backup holds it; rows give their values in this order of columns. */
export interface BackupTable {
  readonly name: string;
  readonly columns: readonly string[];
}

/** Rows of one table, a few at a time. */
export interface BackupRows {
  readonly table: BackupTable;
  readonly rows: readonly (readonly Cell[])[];
}

/** What a database must say of itself so that its rows can be put into another one. */
export interface BackupSchema {
  /** The numbers of the migrations it has seen. */
  readonly steps: readonly number[];
  readonly tables: readonly BackupTable[];
  /** The last `seq` of each table that has one: numbers are never used twice. */
  readonly counters: Readonly<Record<string, number>>;
}

/**
 * Leases, processes, sessions and the last removal are true of this moment only; a sign-in that was revoked must not
 * come back; the numbers of the steps say
 * which migrations were applied; the index of the search is built again.
 */
const NOT_COPIED: ReadonlySet<string> = new Set([
  'lease',
  'process',
  'page_session',
  'sign_in',
  'retention_run',
  'parley_migration',
  'search_entry',
  'search_reach',
]);

/** Whether a backup holds the rows of this table. */
export function isCopied(table: string): boolean {
  return !NOT_COPIED.has(table) && !table.startsWith('sqlite_');
}

/** The tables that these migrations make, in their order: referred ones come before referring ones. */
export function tablesOf(migrations: readonly Migration[]): readonly string[] {
  return migrations.flatMap((migration) =>
    migration
      .statements('postgres')
      .flatMap((statement) => /^create table (\w+)/.exec(statement.trim())?.[1] ?? []),
  );
}

/** A name within a query. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The query for all rows of a table; in the order of storing, since a row may refer to an earlier one. */
export function selectAll({ name, columns }: BackupTable): string {
  const order = columns.includes('seq') ? ' order by seq' : '';
  return `select ${columns.map(quoted).join(', ')} from ${quoted(name)}${order}`;
}
