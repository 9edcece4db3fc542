import type { CodeLeaf, GridLeaf, TableLeaf } from '../document.ts';
import { codePointEnds, graphemeEnds } from './graphemes.ts';
import { largest } from './search.ts';

/**
 * Cuts a code block at a line end; both halves are code blocks of the same language.
 * @param inLine whether a line too long for the part may be cut between characters.
 * @param window longest head worth looking at, in UTF-16 units.
 */
export function cutCode(
  leaf: CodeLeaf,
  fits: (head: CodeLeaf) => boolean,
  window: number,
  inLine: boolean,
): [CodeLeaf, CodeLeaf] | undefined {
  const head = (at: number): CodeLeaf => ({ ...leaf, text: leaf.text.slice(0, at) });
  const tail = (from: number): CodeLeaf => ({
    ...leaf,
    text: leaf.text.slice(from),
    fresh: leaf.within.length,
  });
  const ends = lineEnds(leaf.text, window);
  const lines = largest(ends.length, (count) => fits(head(ends[count - 1] ?? 0)));
  const at = ends[lines - 1];
  if (at !== undefined) return [head(at), tail(at + 1)];
  if (!inLine) return undefined;
  for (const places of [graphemeEnds(leaf.text, window), codePointEnds(leaf.text, window)]) {
    const count = largest(places.length, (n) => fits(head(places[n - 1] ?? 0)));
    const place = places[count - 1];
    if (place !== undefined) return [head(place), tail(place)];
  }
  return undefined;
}

function lineEnds(text: string, window: number): number[] {
  const ends: number[] = [];
  for (let at = text.indexOf('\n'); at >= 0 && at <= window; at = text.indexOf('\n', at + 1)) {
    ends.push(at);
  }
  return ends;
}

/** Cuts a table or grid between rows; both halves show the header. */
export function cutRows<Rows extends GridLeaf | TableLeaf>(
  leaf: Rows,
  fits: (head: Rows) => boolean,
): [Rows, Rows] | undefined {
  const head = (count: number): Rows => ({ ...leaf, rows: leaf.rows.slice(0, count) });
  const most = leaf.rows.length - 1;
  const count = largest(most, (rows) => fits(head(rows)));
  if (count === 0) return undefined;
  return [head(count), { ...leaf, rows: leaf.rows.slice(count), fresh: leaf.within.length }];
}
