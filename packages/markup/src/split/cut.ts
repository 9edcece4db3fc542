import type { CodeLeaf, GridLeaf, Leaf, TableLeaf, TextLeaf, TextRun } from '../document.ts';
import { sliceRuns } from '../transform/runs.ts';
import { BREAKS, type RankSplit, rankText } from './split-points.ts';

const END = Number.POSITIVE_INFINITY;

/**
 * Cuts a paragraph: at a line or sentence end if one is in the second half of what fits, otherwise
 * between words; inside a word, link or code span only if that alone is too long.
 * @returns undefined if none of the paragraph should or can be in this part.
 */
export function splitText(leaf: TextLeaf, space: PartSpace): [TextLeaf, TextLeaf] | undefined {
  const text = getTextWithin(leaf.runs, space.window);
  const stretch = (from: number, to: number): TextLeaf => ({
    ...leaf,
    runs: sliceTrimmedRuns(leaf.runs, from, to),
    fresh: from === 0 ? leaf.fresh : leaf.within.length,
  });
  const at = findBestSplit({ text, rank: rankText(leaf.runs, text), stretch }, space);
  if (at === undefined) return undefined;
  return [stretch(0, at), stretch(at, END)];
}

const EMPTY_LINE = 0;
const LINE = 1;
const WORD = BREAKS;
const CHARACTER = BREAKS + 1;

/**
 * Cuts a code block: at an empty line if one is in the second half of what fits, otherwise at a
 * line end; inside a line only if that alone is too long. Both halves are code in the same
 * language; empty lines at the cut are dropped.
 * @returns undefined if none of the code should or can be in this part.
 */
export function splitCode(leaf: CodeLeaf, space: PartSpace): [CodeLeaf, CodeLeaf] | undefined {
  const text = trimEmptyStart(leaf.text);
  const near = text.slice(0, space.window);
  const stretch = (from: number, to: number): CodeLeaf => {
    const start = text[from] === '\n' ? from + 1 : from;
    const kept = trimEmptyEnd(trimEmptyStart(text.slice(start, to)));
    return { ...leaf, text: kept, fresh: from === 0 ? leaf.fresh : leaf.within.length };
  };
  const at = findBestSplit({ text: near, rank: rankCode(near), stretch }, space);
  if (at === undefined) return undefined;
  return [stretch(0, at), stretch(at, text.length)];
}

function rankCode(text: string): RankSplit {
  return (at) => {
    if (text[at] === '\n') return isEmptyLine(text, at + 1) ? EMPTY_LINE : LINE;
    return text[at - 1] === ' ' ? WORD : CHARACTER;
  };
}

function isEmptyLine(text: string, from: number): boolean {
  const end = text.indexOf('\n', from);
  return end >= 0 && text.slice(from, end).trim() === '';
}

function trimEmptyStart(text: string): string {
  const space = text.length - text.trimStart().length;
  return text.slice(text.lastIndexOf('\n', space) + 1);
}

function trimEmptyEnd(text: string): string {
  const end = text.indexOf('\n', text.trimEnd().length);
  return end < 0 ? text : text.slice(0, end);
}

/**
 * Cuts a table or grid between rows; both halves show the header.
 * @returns undefined if not even the first row fits.
 */
export function splitRows<Rows extends GridLeaf | TableLeaf>(
  leaf: Rows,
  space: PartSpace,
): [Rows, Rows] | undefined {
  const head = (count: number): Rows => ({ ...leaf, rows: leaf.rows.slice(0, count) });
  const count = findLargestWithinLoad(leaf.rows.length - 1, (rows) => space.load(head(rows)));
  if (count === 0) return undefined;
  return [head(count), { ...leaf, rows: leaf.rows.slice(count), fresh: leaf.within.length }];
}

/** Text that has to be cut, up to the maximum that a part can hold. */
interface SplittableText {
  readonly text: string;
  readonly rank: RankSplit;
  stretch(from: number, to: number): Leaf;
}

/**
 * The best offset for a cut: in the second half of the text that fits, unless the cut splits a unit
 * that the next part can hold as a whole.
 * @returns undefined if none of the text should or can be in this part.
 */
function findBestSplit(cuttable: SplittableText, space: PartSpace): number | undefined {
  const cutBefore = space.cutsIn(cuttable.text);
  const load = (at: number) => space.load(cuttable.stretch(0, cutBefore(at)));
  let most = cutBefore(findLargestWithinLoad(cuttable.text.length - 1, load));
  while (most > 0) {
    const at = findBestSplitUpTo(most, cuttable, space, cutBefore);
    // Less text may need more space: a mark that works only at the end of a word may need an
    // invisible character.
    if (at === undefined || load(at) <= 1) return at;
    most = cutBefore(at - 1);
  }
  return undefined;
}

function findBestSplitUpTo(
  most: number,
  { text, rank, stretch }: SplittableText,
  space: PartSpace,
  cutBefore: FindSplitBefore,
): number | undefined {
  const upper = findBestSplitAbove(most / 2, most, rank, cutBefore);
  const torn = computeBreakPenalty(rank(upper));
  if (torn === 0) return upper;
  const start = findLastSplitBelow(most / 2, rank, cutBefore, torn);
  const end = findFirstSplitBeyond(upper, text.length, rank, torn);
  if (space.loadAlone(stretch(start, end)) > 1) return upper;
  if (start > 0) return start;
  return space.isEmpty ? upper : undefined;
}

/** The best position in the upper half of the text that fits; the later one if equal. */
function findBestSplitAbove(
  least: number,
  most: number,
  rank: RankSplit,
  cutBefore: FindSplitBefore,
): number {
  let best = { at: most, rank: rank(most) };
  for (let at = most - 1; at >= least && at > 0 && best.rank > 0; at -= 1) {
    const value = rank(at);
    if (value < best.rank && cutBefore(at) === at) best = { at, rank: value };
  }
  return best.at;
}

/**
 * The start of the unit that would be split: the last position in the lower half with a lower rank.
 */
function findLastSplitBelow(
  half: number,
  rank: RankSplit,
  cutBefore: FindSplitBefore,
  torn: number,
): number {
  let at = Math.ceil(half) - 1;
  while (at > 0 && (computeBreakPenalty(rank(at)) >= torn || cutBefore(at) !== at)) at -= 1;
  return Math.max(at, 0);
}

function findFirstSplitBeyond(from: number, length: number, rank: RankSplit, torn: number): number {
  let at = from + 1;
  while (at < length && computeBreakPenalty(rank(at)) >= torn) at += 1;
  return at;
}

function computeBreakPenalty(rank: number): number {
  return Math.floor(rank / BREAKS);
}

export interface PartSpace {
  /**
   * The size of the part with this beginning of the leaf, relative to the limit; it fits up to 1.
   */
  load(beginning: Leaf): number;
  /** The size of a part that contains only this range of the leaf. */
  loadAlone(stretch: Leaf): number;
  /** More UTF-16 units than any part can hold. */
  readonly window: number;
  /** Whether the part is empty, so that the leaf has to begin in it. */
  readonly isEmpty: boolean;
  cutsIn(text: string): FindSplitBefore;
}

/** The text of the first runs, truncated to `length` UTF-16 units. */
function getTextWithin(runs: readonly TextRun[], length: number): string {
  let text = '';
  for (const run of runs) {
    if (text.length >= length) break;
    text += run.text.slice(0, length - text.length);
  }
  return text;
}

/** The runs between two offsets, without whitespace at their beginning and at a cut. */
function sliceTrimmedRuns(all: readonly TextRun[], from: number, to: number): TextRun[] {
  const runs = sliceRuns(all, from, to);
  const first = runs.findIndex(hasRunText);
  if (first < 0) return [];
  const last = to < END ? runs.findLastIndex(hasRunText) : END;
  return runs.slice(first, last + 1).map((run, index) => {
    const text = index === 0 ? run.text.trimStart() : run.text;
    return { ...run, text: first + index === last ? text.trimEnd() : text };
  });
}

function hasRunText({ text }: TextRun): boolean {
  return text.trim() !== '';
}

/**
 * The last offset up to `at` where the text may be cut; 0 if its first character extends beyond
 * `at`.
 */
type FindSplitBefore = (at: number) => number;

/** Cuts that never split a user-perceived character, such as a family emoji or a flag. */
export function createGraphemeSplitFinder(text: string): FindSplitBefore {
  if (isSimpleText(text)) return (at) => at;
  // The segmenter is created on demand, because creating it costs more than processing most texts.
  const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  // Only the surroundings of an offset are segmented, which is a hundred times faster than
  // iterating over the text.
  const segments = graphemes.segment(text);
  return (at) => segments.containing(at)?.index ?? at;
}

/** Cuts between code points, for a single character longer than a part. */
export function createCodePointSplitFinder(text: string): FindSplitBefore {
  return (at) => (isLowSurrogate(text.charCodeAt(at)) ? at - 1 : at);
}

/**
 * Below U+0300, where the combining marks begin, every UTF-16 unit is a separate character; nearly
 * all text is in this range.
 */
function isSimpleText(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 0x300 || code === 0x0d) return false;
  }
  return true;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/**
 * The largest `count` in 0..max whose size is at most 1, given that sizes never decrease. Sizes
 * grow about evenly, so two of them predict the next probe; every third probe halves the remaining
 * range, in case they do not.
 */
export function findLargestWithinLoad(max: number, load: (count: number) => number): number {
  let low = 0;
  let lowLoad = 0;
  let high = max + 1;
  let next = Math.min(max, 8);
  for (let step = 1; high - low > 1; step += 1) {
    const value = load(next);
    const growth = (value - lowLoad) / (next - low);
    if (value <= 1) {
      low = next;
      lowLoad = value;
    } else high = next;
    const even = low + Math.floor((1 - lowLoad) / growth);
    const middle = Math.floor((low + high) / 2);
    next = step % 3 !== 0 && Number.isFinite(even) ? even : middle;
    next = Math.min(Math.max(next, low + 1), high - 1);
  }
  return low;
}
