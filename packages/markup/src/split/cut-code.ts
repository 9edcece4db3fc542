import type { CodeLeaf } from '../document.ts';
import { BREAKS, bestCut, type Rank } from './best-cut.ts';
import type { Space } from './space.ts';

const EMPTY_LINE = 0;
const LINE = 1;
const WORD = BREAKS;
const CHARACTER = BREAKS + 1;

/**
 * Cuts a code block, at an empty line if one stands in the second half of what fits, else at a line
 * end, and inside a line only if that alone is too long. Both halves are code of the same language;
 * empty lines at the cut are dropped.
 * @returns undefined if nothing of it should or can stand in this part.
 */
export function cutCode(leaf: CodeLeaf, space: Space): [CodeLeaf, CodeLeaf] | undefined {
  const text = withoutEmptyStart(leaf.text);
  const near = text.slice(0, space.window);
  const stretch = (from: number, to: number): CodeLeaf => {
    const begun = text[from] === '\n' ? from + 1 : from;
    const kept = withoutEmptyEnd(withoutEmptyStart(text.slice(begun, to)));
    return { ...leaf, text: kept, fresh: from === 0 ? leaf.fresh : leaf.within.length };
  };
  const at = bestCut({ text: near, rank: rankCode(near), stretch }, space);
  if (at === undefined) return undefined;
  return [stretch(0, at), stretch(at, text.length)];
}

function rankCode(text: string): Rank {
  return (at) => {
    if (text[at] === '\n') return isEmptyLine(text, at + 1) ? EMPTY_LINE : LINE;
    return text[at - 1] === ' ' ? WORD : CHARACTER;
  };
}

function isEmptyLine(text: string, from: number): boolean {
  const end = text.indexOf('\n', from);
  return end >= 0 && text.slice(from, end).trim() === '';
}

/** Without the lines at the beginning that have nothing in them. */
function withoutEmptyStart(text: string): string {
  const space = text.length - text.trimStart().length;
  return text.slice(text.lastIndexOf('\n', space) + 1);
}

function withoutEmptyEnd(text: string): string {
  const end = text.indexOf('\n', text.trimEnd().length);
  return end < 0 ? text : text.slice(0, end);
}
