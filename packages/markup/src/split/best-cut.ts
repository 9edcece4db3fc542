import type { Leaf } from '../document.ts';
import type { CutBefore } from './graphemes.ts';
import { mostWithin } from './search.ts';
import type { Space } from './space.ts';

/**
 * How bad it is to cut at an offset; lower is better. From `BREAKS` on something is torn apart that
 * belongs together, and each further multiple is a worse thing to tear.
 */
export type Rank = (at: number) => number;

/** The first rank that tears something. */
export const BREAKS = 10;

/** A text that has to be cut, as far as a part can hold it. */
export interface Cuttable {
  readonly text: string;
  readonly rank: Rank;
  /** The leaf of a stretch between two offsets. */
  stretch(from: number, to: number): Leaf;
}

/**
 * The best offset for a cut: in the second half of what fits, unless that tears something apart that
 * the next part can hold whole.
 * @returns undefined if nothing of the text should or can stand in this part.
 */
export function bestCut(cuttable: Cuttable, space: Space): number | undefined {
  const cutBefore = space.cutsIn(cuttable.text);
  const load = (at: number) => space.load(cuttable.stretch(0, cutBefore(at)));
  let most = cutBefore(mostWithin(cuttable.text.length - 1, load));
  while (most > 0) {
    const at = bestUpTo(most, cuttable, space, cutBefore);
    // Less text may take more room: a mark that holds only at the end of a word gets its signs there.
    if (at === undefined || load(at) <= 1) return at;
    most = cutBefore(at - 1);
  }
  return undefined;
}

function bestUpTo(
  most: number,
  { text, rank, stretch }: Cuttable,
  space: Space,
  cutBefore: CutBefore,
): number | undefined {
  const upper = bestAbove(most / 2, most, rank, cutBefore);
  const torn = harm(rank(upper));
  if (torn === 0) return upper;
  const start = lastBelow(most / 2, rank, cutBefore, torn);
  const end = firstBeyond(upper, text.length, rank, torn);
  if (space.loadAlone(stretch(start, end)) > 1) return upper;
  if (start > 0) return start;
  return space.isEmpty ? upper : undefined;
}

/** The best place in the upper half of what fits; later among equals. */
function bestAbove(least: number, most: number, rank: Rank, cutBefore: CutBefore): number {
  let best = { at: most, rank: rank(most) };
  for (let at = most - 1; at >= least && at > 0 && best.rank > 0; at -= 1) {
    const value = rank(at);
    if (value < best.rank && cutBefore(at) === at) best = { at, rank: value };
  }
  return best.at;
}

/** Where the thing that would be torn begins: the last place in the lower half that does less harm. */
function lastBelow(half: number, rank: Rank, cutBefore: CutBefore, torn: number): number {
  let at = Math.ceil(half) - 1;
  while (at > 0 && (harm(rank(at)) >= torn || cutBefore(at) !== at)) at -= 1;
  return Math.max(at, 0);
}

/** Where the thing that would be torn ends. */
function firstBeyond(from: number, length: number, rank: Rank, torn: number): number {
  let at = from + 1;
  while (at < length && harm(rank(at)) >= torn) at += 1;
  return at;
}

function harm(rank: number): number {
  return Math.floor(rank / BREAKS);
}
