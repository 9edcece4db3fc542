import type { Leaf } from '../document.ts';
import { betweenCodePoints, betweenGraphemes, type CutBefore } from './graphemes.ts';
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
  /** The leaf of what stands before an offset. */
  head(at: number): Leaf;
}

/**
 * The best offset for a cut.
 * @returns undefined if nothing of the text should or can stand in this part.
 */
export function bestCut(cuttable: Cuttable, space: Space): number | undefined {
  const { text } = cuttable;
  const at = cutWith(betweenGraphemes(text, space.graphemes), cuttable, space);
  // Not even one character of what people see fits: it has to be broken.
  const always = space.mayTear === 'always';
  return at ?? (always ? cutWith(betweenCodePoints(text), cuttable, space) : undefined);
}

function cutWith(cutBefore: CutBefore, cuttable: Cuttable, space: Space): number | undefined {
  const { text, rank, head } = cuttable;
  const load = (at: number) => space.load(head(cutBefore(at)));
  const most = cutBefore(mostWithin(text.length - 1, load));
  if (most <= 0) return undefined;
  const upper = bestAbove(most / 2, most, rank, cutBefore);
  const torn = harm(rank(upper));
  if (torn === 0) return upper;
  const end = firstBeyond(upper, text.length, rank, torn);
  const lower = lastBelow(most / 2, rank, cutBefore, torn);
  // A short part is better than tearing what the next part can hold whole.
  if (lower > 0 && end !== undefined && end - lower <= most) return lower;
  if (space.mayTear === 'always') return upper;
  const holdable = end !== undefined && space.loadAlone(head(end)) <= 1;
  return space.mayTear === 'too-long' && !holdable ? upper : undefined;
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

/** The last place in the lower half that does less harm; 0 is the beginning. */
function lastBelow(half: number, rank: Rank, cutBefore: CutBefore, torn: number): number {
  let at = Math.ceil(half) - 1;
  while (at > 0 && (harm(rank(at)) >= torn || cutBefore(at) !== at)) at -= 1;
  return Math.max(at, 0);
}

/** Where the thing that would be torn ends. */
function firstBeyond(from: number, length: number, rank: Rank, torn: number): number | undefined {
  for (let at = from + 1; at < length; at += 1) if (harm(rank(at)) < torn) return at;
  return length;
}

function harm(rank: number): number {
  return Math.floor(rank / BREAKS);
}
