import {
  isVisibleLeaf,
  type Leaf,
  measureContent,
  type TableLeaf,
  type TextLeaf,
  type TextRun,
} from '../document.ts';
import type { Steps } from '../steps.ts';
import { findLink, spellOutLinks } from '../transform/runs.ts';
import { createRowContainers, formatHeader, formatRowTexts } from '../transform/tables.ts';
import {
  createCodePointSplitFinder,
  createGraphemeSplitFinder,
  findLargestWithinLoad,
  type PartSpace,
  splitCode,
  splitRows,
  splitText,
} from './cut.ts';

export interface SplitRoom {
  /**
   * The size of a part with these leaves, relative to the limit; the part can be sent up to 1. The
   * size increases with the leaves.
   */
  load(leaves: readonly Leaf[]): number;
  /** More UTF-16 units than any part can hold, so that longer text need not be examined. */
  readonly window: number;
}

/** Below this size, a part is filled up with half a paragraph instead of being sent so short. */
const FULL_ENOUGH = 0.5;

/**
 * Splits a document into parts that fit, at the best available positions, with a step for each
 * part. No text is lost or duplicated; invisible text yields no part.
 */
export function* splitLeaves(leaves: readonly Leaf[], room: SplitRoom): Steps<Leaf[][]> {
  const parts: Leaf[][] = [];
  // Leaves are kept on a stack with the next one on top, so the cost of a part does not depend on
  // the number of remaining leaves.
  const waiting = leaves.toReversed();
  while (waiting.length > 0) {
    const ahead = takeLookahead(waiting, room.window);
    const { head, rest } = createNextPart(ahead, room);
    for (const leaf of rest.toReversed()) waiting.push(leaf);
    if (head.some(isVisibleLeaf)) parts.push(head);
    yield;
  }
  return parts;
}

/** Takes leaves from the stack: all that are left, or more than a part can hold. */
function takeLookahead(waiting: Leaf[], window: number): Leaf[] {
  const ahead: Leaf[] = [];
  let length = 0;
  for (let leaf = waiting.pop(); leaf !== undefined; leaf = waiting.pop()) {
    ahead.push(leaf);
    length += 1 + measureContent([leaf], window);
    if (length > window + 1) break;
  }
  return ahead;
}

/** One part and the leaves after it. `head` may be empty when a leaf had to be simplified first. */
interface SplitStep {
  readonly head: Leaf[];
  readonly rest: Leaf[];
}

/**
 * The end of the part depends only on the leaves needed to exceed the window.
 * @returns The same leaves as `head` if all of them fit.
 */
function createNextPart(ahead: Leaf[], room: SplitRoom): SplitStep {
  if (room.load(ahead) <= 1) return { head: ahead, rest: [] };
  const fitting = findLargestWithinLoad(ahead.length - 1, (count) =>
    room.load(ahead.slice(0, count)),
  );
  return findGoodBoundary(ahead, fitting, room) ?? splitNextLeaf(ahead, fitting, room);
}

/** The best position between leaves that leaves the part full enough; the later one if equal. */
function findGoodBoundary(
  leaves: readonly Leaf[],
  fitting: number,
  room: SplitRoom,
): SplitStep | undefined {
  let best: { count: number; rank: number } | undefined;
  let load = room.load(leaves.slice(0, fitting));
  // The size grows roughly with the length of the leaves, which can be measured without printing.
  const each = load / measureContent(leaves.slice(0, fitting), room.window);
  for (let count = fitting; count > 0 && load > FULL_ENOUGH; count -= 1) {
    const rank = rankBoundary(leaves[count - 1], leaves[count]);
    if (rank !== undefined && (best === undefined || rank < best.rank)) best = { count, rank };
    load -= each * (1 + measureContent(leaves.slice(count - 1, count), room.window));
  }
  return best === undefined ? undefined : splitAtBoundary(leaves, best.count);
}

/**
 * 0 between top-level blocks, higher for deeper positions; text that introduces the next leaf stays
 * with it.
 */
function rankBoundary(before: Leaf | undefined, after: Leaf | undefined): number | undefined {
  if (before === undefined || after === undefined || isHeadingLeaf(before)) return undefined;
  const inside = Math.min(after.fresh, after.within.length);
  return inside * 2 + (after.gap === 2 ? 0 : 1) + (isIntroducingLeaf(before) ? 0.5 : 0);
}

function isHeadingLeaf(leaf: Leaf): boolean {
  return leaf.kind === 'text' && leaf.heading !== undefined;
}

/** A line such as "Run this:" belongs to the next leaf. */
function isIntroducingLeaf(leaf: Leaf): boolean {
  return leaf.kind === 'text' && /[:：]\s*$/.test(leaf.runs.at(-1)?.text.slice(-8) ?? '');
}

function splitAtBoundary(leaves: readonly Leaf[], count: number): SplitStep {
  return { head: leaves.slice(0, count), rest: leaves.slice(count) };
}

function splitNextLeaf(ahead: Leaf[], fitting: number, room: SplitRoom): SplitStep {
  const before = ahead.slice(0, fitting);
  const after = ahead.slice(fitting + 1);
  const next = ahead[fitting];
  if (next === undefined) return splitAtBoundary(ahead, fitting);
  const space: PartSpace = {
    load: (beginning) => room.load([...before, beginning]),
    loadAlone: (stretch) => room.load([stretch]),
    window: room.window,
    isEmpty: fitting === 0,
    cutsIn: createGraphemeSplitFinder,
  };
  const halves = splitLeaf(next, space);
  if (halves !== undefined) return createSplitStep(before, halves, after);
  const withoutHeadings = 1 + before.findLastIndex((leaf) => !isHeadingLeaf(leaf));
  if (withoutHeadings > 0) return splitAtBoundary(ahead, withoutHeadings);
  // A heading that fills the part, or precedes a link or row that fits only into a separate part.
  if (fitting > 0) return splitAtBoundary(ahead, fitting);
  const simpler = simplifyOversizedLeaf(next);
  if (simpler !== undefined) return { head: [], rest: [...simpler, ...after] };
  // A single character longer than a part has to be broken; the smallest piece fits every target.
  const broken = splitLeaf(next, { ...space, cutsIn: createCodePointSplitFinder });
  return broken === undefined ? splitAtBoundary(ahead, 1) : createSplitStep(before, broken, after);
}

function createSplitStep(before: Leaf[], [head, tail]: [Leaf, Leaf], after: Leaf[]): SplitStep {
  return { head: [...before, head], rest: isVisibleLeaf(tail) ? [tail, ...after] : after };
}

function splitLeaf(leaf: Leaf, space: PartSpace): [Leaf, Leaf] | undefined {
  switch (leaf.kind) {
    case 'text':
      return splitText(leaf, space);
    case 'code':
      return splitCode(leaf, space);
    case 'grid':
    case 'table':
      return splitRows(leaf, space);
    case 'rule':
      return undefined;
  }
}

/**
 * Splits like `splitLeaves`, and ends each of several parts with a line such as `(2/5)`. The number
 * line counts towards the limit of its part.
 * @param mostLabel a label that fills more of a part than this share, 0 to 1, is omitted from all
 * parts.
 */
export function* splitWithPartNumbers(
  leaves: readonly Leaf[],
  room: SplitRoom,
  mostLabel: number,
): Steps<Leaf[][]> {
  const plain = yield* splitLeaves(leaves, room);
  if (plain.length < 2) return plain;
  // The labels themselves may increase the number of parts, which then needs one more digit.
  for (let digits = String(plain.length).length; ; digits += 1) {
    const widest = createPartLabel('9'.repeat(digits), '9'.repeat(digits));
    if (room.load([widest]) > mostLabel) return plain;
    const load: SplitRoom['load'] = (part) => room.load([...part, widest]);
    const parts = yield* splitLeaves(leaves, { ...room, load });
    // With less space, the structure of a quote or list may be dropped, and then the text fits into
    // one part.
    if (parts.length < 2) return parts;
    const count = String(parts.length);
    if (count.length > digits) continue;
    return parts.map((part, index) => [...part, createPartLabel(String(index + 1), count)]);
  }
}

function createPartLabel(index: string, count: string): Leaf {
  const runs = [{ text: `(${index}/${count})`, marks: [] }];
  return { kind: 'text', runs, within: [], fresh: 0, gap: 2 };
}

/**
 * The next simpler form of a leaf that does not fit into a part even partly, so that splitting
 * always ends: a table's first row → list item, grid → code → paragraph, paragraph → without its
 * list, then with its first words unmarked.
 * @returns Undefined when the leaf cannot be simplified further.
 */
function simplifyOversizedLeaf(leaf: Leaf): Leaf[] | undefined {
  switch (leaf.kind) {
    case 'table':
      return moveFirstRowToItem(leaf);
    case 'grid':
      return [
        {
          ...leaf,
          kind: 'code',
          language: undefined,
          text: [...leaf.header, ...leaf.rows].join('\n'),
        },
      ];
    case 'code':
      return leaf.language === undefined
        ? [
            {
              ...leaf,
              kind: 'text',
              runs: [{ text: neutralizeCodeMentions(leaf.text), marks: [] }],
            },
          ]
        : [{ ...leaf, language: undefined }];
    case 'text':
      return simplifyText(leaf);
    case 'rule':
      return leaf.within.length === 0 ? undefined : [{ ...leaf, within: [], fresh: 0 }];
  }
}

function simplifyText(leaf: TextLeaf): Leaf[] | undefined {
  if (leaf.within.length > 0) return [{ ...leaf, within: [], fresh: 0 }];
  const { heading, ...text } = leaf;
  if (heading !== undefined) return [text];
  const [first] = leaf.runs;
  if (first === undefined || first.marks.length === 0) return undefined;
  return [{ ...leaf, runs: removeFirstMarks(first, leaf.runs) }];
}

/**
 * Removes the marks from the first run, and from the whole link if the run belongs to one; the URL
 * is then written out.
 */
function removeFirstMarks(first: TextRun, runs: readonly TextRun[]): TextRun[] {
  const link = findLink(first);
  const end = link === undefined ? 1 : runs.findIndex((run) => findLink(run) !== link);
  const marked = end < 0 ? runs : runs.slice(0, end);
  const bare = spellOutLinks(marked).map(({ text, marks }) => {
    const wasCode = marks.some(({ type }) => type === 'code');
    return { text: wasCode ? neutralizeCodeMentions(text) : text, marks: [] };
  });
  return [...bare, ...runs.slice(marked.length)];
}

/** Code notifies no one, so text that was code must not notify anyone either. */
function neutralizeCodeMentions(text: string): string {
  return text.replaceAll('@', '@\u200b');
}

function moveFirstRowToItem(table: TableLeaf): Leaf[] {
  const { header, rows, within, fresh, gap } = table;
  const [row, ...others] = rows;
  if (row === undefined) return [{ kind: 'text', runs: formatHeader(header), within, fresh, gap }];
  const [path = within] = createRowContainers(within, 1);
  const [runs = []] = formatRowTexts(header, [row]);
  const item: Leaf = { kind: 'text', runs, within: path, fresh, gap };
  if (others.length === 0) return [item];
  return [item, { ...table, rows: others, fresh: within.length, gap: 1 }];
}
