import {
  characterAt,
  characterBefore,
  isEdge,
  isInside,
  type Reading,
} from './format-characters.ts';

/** A pair of markers in one line; offsets in the whole text. */
export interface Pair {
  readonly type: 'bold' | 'italic' | 'strike';
  /** Of the opening marker. */
  readonly from: number;
  /** Behind the closing marker. */
  readonly to: number;
}

const MARKERS = [
  ['*', 'bold'],
  ['_', 'italic'],
  ['~', 'strike'],
] as const;

/**
 * The marks of one line: an opening marker and the nearest closing one, left to right, so the same
 * mark never nests in itself. Strict: no such character may stand between the two, since a client
 * may give up on it.
 * @param taken not 0 where another construct has the character.
 */
export function findMarks(
  line: string,
  start: number,
  taken: Uint8Array,
  reading: Reading,
): Pair[] {
  return MARKERS.flatMap(([marker, type]) => {
    const pairs: Pair[] = [];
    let open: number | undefined;
    for (let at = line.indexOf(marker); at >= 0; at = line.indexOf(marker, at + 1)) {
      const isFree = taken[start + at] === 0;
      const isPair = isFree && open !== undefined && at - open > 1;
      if (isPair && open !== undefined && closes(line, at, marker, reading)) {
        pairs.push({ type, from: start + open, to: start + at + 1 });
        open = undefined;
      } else if (open === undefined || reading === 'strict') {
        open = isFree && opens(line, at, marker, reading) ? at : undefined;
      }
    }
    return pairs;
  });
}

function opens(line: string, at: number, marker: string, reading: Reading): boolean {
  const before = characterBefore(line, at);
  const after = characterAt(line, at + 1);
  if (reading === 'strict' && (before === marker || after === marker)) return false;
  return isEdge(before, reading) && isInside(after, reading);
}

function closes(line: string, at: number, marker: string, reading: Reading): boolean {
  const before = characterBefore(line, at);
  const after = characterAt(line, at + 1);
  if (reading === 'strict' && (before === marker || after === marker)) return false;
  return isInside(before, reading) && isEdge(after, reading);
}

/** Pairs that do not lie wholly in or wholly beside each other: clients show one of them or none. */
export function findCrossing(pairs: readonly { from: number; to: number }[]): boolean {
  const open: number[] = [];
  for (const { from, to } of [...pairs].sort((a, b) => a.from - b.from)) {
    while ((open.at(-1) ?? Number.POSITIVE_INFINITY) <= from) open.pop();
    if (to > (open.at(-1) ?? Number.POSITIVE_INFINITY)) return true;
    open.push(to);
  }
  return false;
}
