import type { Database } from '../database.ts';
import { removeWords } from './copies.ts';
import { FORGOTTEN_TABLES } from './forgotten-tables.ts';

/**
 * Removes the words of a lane from all tables except some, and returns the number of rows by table.
 */
export async function emptyLane(
  database: Database,
  lane: string,
  mark: string,
  except: readonly string[] = [],
): Promise<ReadonlyMap<string, number>> {
  const values = { conversation: lane };
  const counts = new Map<string, number>();
  for (const forgotten of FORGOTTEN_TABLES.filter(({ table }) => !except.includes(table))) {
    const rows = { where: forgotten.of, values };
    counts.set(forgotten.table, await removeWords(database, forgotten, rows, mark));
  }
  return counts;
}

/** Adds up the tables that are counted. */
export function sumOf(
  counts: ReadonlyMap<string, number>,
  isCounted: (table: string) => boolean,
): number {
  return [...counts].reduce((sum, [table, count]) => sum + (isCounted(table) ? count : 0), 0);
}
