import type { Database, ParameterValues } from '../database.ts';
import { removeText } from './copies.ts';
import { FORGOTTEN_TABLES } from './forgotten-tables.ts';

/** The rows in a lane that are not changed. */
interface PreservedRows {
  /** Tables that keep all of their rows. */
  readonly tables?: readonly string[];
  /**
   * For all other tables: conditions that select the rows to remove, and their parameter values.
   */
  readonly only?: Readonly<Record<string, string>>;
  readonly values?: ParameterValues;
}

/**
 * Removes a lane's text from all tables, except for the rows to keep, and returns the number of
 * rows by table.
 */
export async function clearLaneText(
  database: Database,
  lane: string,
  mark: string,
  { tables = [], only = {}, values = {} }: PreservedRows = {},
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const forgotten of FORGOTTEN_TABLES.filter(({ table }) => !tables.includes(table))) {
    const more = only[forgotten.table];
    const where = more === undefined ? forgotten.of : `(${forgotten.of}) and ${more}`;
    const named = more === undefined ? {} : values;
    const rows = { where, values: { conversation: lane, ...named } };
    counts.set(forgotten.table, await removeText(database, forgotten, rows, mark));
  }
  return counts;
}

/** Sums up the rows of the tables that are counted. */
export function sumCounts(
  counts: ReadonlyMap<string, number>,
  isCounted: (table: string) => boolean,
): number {
  return [...counts].reduce((sum, [table, count]) => sum + (isCounted(table) ? count : 0), 0);
}
