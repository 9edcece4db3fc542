import type { GridLeaf, TableLeaf } from '../document.ts';
import { mostWithin } from './search.ts';
import type { Space } from './space.ts';

/**
 * Cuts a table or grid between rows; both halves show the header.
 * @returns undefined if not even the first row fits.
 */
export function cutRows<Rows extends GridLeaf | TableLeaf>(
  leaf: Rows,
  space: Space,
): [Rows, Rows] | undefined {
  const head = (count: number): Rows => ({ ...leaf, rows: leaf.rows.slice(0, count) });
  const count = mostWithin(leaf.rows.length - 1, (rows) => space.load(head(rows)));
  if (count === 0) return undefined;
  return [head(count), { ...leaf, rows: leaf.rows.slice(count), fresh: leaf.within.length }];
}
