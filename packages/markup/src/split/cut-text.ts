import type { TextLeaf } from '../document.ts';
import { bestCut } from './best-cut.ts';
import { rankText } from './rank-text.ts';
import { runsAfter, runsBefore, textWithin } from './slice-runs.ts';
import type { Space } from './space.ts';

/**
 * Cuts a paragraph: at a line or sentence end if one stands in the second half of what fits, else
 * between words; inside a word, link or code span only if that alone is too long.
 * @returns undefined if nothing of it should or can stand in this part.
 */
export function cutText(leaf: TextLeaf, space: Space): [TextLeaf, TextLeaf] | undefined {
  const text = textWithin(leaf.runs, space.window);
  const head = (at: number): TextLeaf => ({ ...leaf, runs: runsBefore(leaf.runs, at) });
  const at = bestCut({ text, rank: rankText(leaf.runs, text), head }, space);
  if (at === undefined) return undefined;
  const tail: TextLeaf = { ...leaf, runs: runsAfter(leaf.runs, at), fresh: leaf.within.length };
  return [head(at), tail];
}
