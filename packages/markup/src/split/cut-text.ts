import type { TextLeaf } from '../document.ts';
import { bestCut } from './best-cut.ts';
import { rankText } from './rank-text.ts';
import { runsAfter, runsBefore, textWithin } from './slice-runs.ts';
import type { Space } from './space.ts';

/** Behind all text. */
const END = Number.POSITIVE_INFINITY;

/**
 * Cuts a paragraph: at a line or sentence end if one stands in the second half of what fits, else
 * between words; inside a word, link or code span only if that alone is too long.
 * @returns undefined if nothing of it should or can stand in this part.
 */
export function cutText(leaf: TextLeaf, space: Space): [TextLeaf, TextLeaf] | undefined {
  const text = textWithin(leaf.runs, space.window);
  const stretch = (from: number, to: number): TextLeaf => ({
    ...leaf,
    runs: runsAfter(to < END ? runsBefore(leaf.runs, to) : leaf.runs, from),
    fresh: from === 0 ? leaf.fresh : leaf.within.length,
  });
  const at = bestCut({ text, rank: rankText(leaf.runs, text), stretch }, space);
  if (at === undefined) return undefined;
  return [stretch(0, at), stretch(at, END)];
}
