import type { Database } from '../database.ts';
import { deleteRows, emptyRows } from './copies.ts';
import { FORGET_PLACES } from './places.ts';

/** Condition: the rows of the lane `:conversation`. */
export const OF_LANE = 'conversation_id = :conversation';

/** Empties the places of a lane but for some; how many rows that were, by table. */
export async function emptyLane(
  database: Database,
  lane: string,
  mark: string,
  except: readonly string[] = [],
): Promise<ReadonlyMap<string, number>> {
  const values = { conversation: lane };
  const counts = new Map<string, number>();
  for (const place of FORGET_PLACES.filter(({ table }) => !except.includes(table))) {
    const rows = { where: place.of, values };
    const count =
      place.whole === 'rows'
        ? await deleteRows(database, place.table, rows)
        : await emptyRows(database, place, rows, mark);
    counts.set(place.table, count);
  }
  const prompts = { where: OF_LANE, values };
  counts.set('turn_prompt', await deleteRows(database, 'turn_prompt', prompts, ['turn_id']));
  return counts;
}

/** The sum over the tables that are counted. */
export function sumOf(
  counts: ReadonlyMap<string, number>,
  isCounted: (table: string) => boolean,
): number {
  return [...counts].reduce((sum, [table, count]) => sum + (isCounted(table) ? count : 0), 0);
}
