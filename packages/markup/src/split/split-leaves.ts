import type { Leaf } from '../document.ts';
import { contentLength, isVisible } from '../leaf-content.ts';
import type { Steps } from '../steps.ts';
import { cutCode } from './cut-code.ts';
import { cutRows } from './cut-rows.ts';
import { cutText } from './cut-text.ts';
import { betweenCodePoints, betweenGraphemes } from './graphemes.ts';
import { mostWithin } from './search.ts';
import { simplify } from './simplify.ts';
import type { Space } from './space.ts';

/** What the splitter must know about the target. */
export interface Room {
  /** How full a part with these leaves would be; up to 1 it can be sent. Grows with the leaves. */
  load(leaves: readonly Leaf[]): number;
  /** More UTF-16 units than any part can hold; looking further would be a waste. */
  readonly window: number;
}

/** Below this load a part is rather filled up with half a paragraph than sent so short. */
const FULL_ENOUGH = 0.5;

/**
 * Splits a document into parts that fit, at the best places there are, a step for each part. Loses
 * and doubles nothing; what nobody would see gives no part.
 */
export function* splitLeaves(leaves: readonly Leaf[], room: Room): Steps<Leaf[][]> {
  const parts: Leaf[][] = [];
  // A stack, the next leaf on top: a part costs the same, however much is still to come.
  const waiting = leaves.toReversed();
  while (waiting.length > 0) {
    const ahead = takeAhead(waiting, room.window);
    const { head, rest } = nextPart(ahead, room);
    for (const leaf of rest.toReversed()) waiting.push(leaf);
    if (head.some(isVisible)) parts.push(head);
    yield;
  }
  return parts;
}

/** Takes from a stack the leaves that are all there is, or more than a part can hold. */
export function takeAhead(waiting: Leaf[], window: number): Leaf[] {
  const ahead: Leaf[] = [];
  let length = 0;
  for (let leaf = waiting.pop(); leaf !== undefined; leaf = waiting.pop()) {
    ahead.push(leaf);
    length += 1 + contentLength([leaf], window);
    if (length > window + 1) break;
  }
  return ahead;
}

/** One part and what comes after it. `head` may be empty when a leaf had to be made simpler first. */
export interface Step {
  readonly head: Leaf[];
  readonly rest: Leaf[];
}

/**
 * Makes the next part. Where it ends depends on no more leaves than it takes to exceed the window.
 * @returns the very same leaves as `head` if all of them fit.
 */
export function nextPart(ahead: Leaf[], room: Room): Step {
  if (room.load(ahead) <= 1) return { head: ahead, rest: [] };
  const fitting = mostWithin(ahead.length - 1, (count) => room.load(ahead.slice(0, count)));
  return goodBoundary(ahead, fitting, room) ?? cutNext(ahead, fitting, room);
}

/** The best place between leaves that leaves the part full enough; later is better among equals. */
function goodBoundary(leaves: readonly Leaf[], fitting: number, room: Room): Step | undefined {
  let best: { count: number; rank: number } | undefined;
  let load = room.load(leaves.slice(0, fitting));
  // Leaves add to the load about as they do to the length, which takes no printing.
  const each = load / contentLength(leaves.slice(0, fitting), room.window);
  for (let count = fitting; count > 0 && load > FULL_ENOUGH; count -= 1) {
    const rank = boundaryRank(leaves[count - 1], leaves[count]);
    if (rank !== undefined && (best === undefined || rank < best.rank)) best = { count, rank };
    load -= each * (1 + contentLength(leaves.slice(count - 1, count), room.window));
  }
  return best === undefined ? undefined : boundaryAt(leaves, best.count);
}

/** 0 between top-level blocks, more the deeper the place; what leads to the next leaf stays with it. */
function boundaryRank(before: Leaf | undefined, after: Leaf | undefined): number | undefined {
  if (before === undefined || after === undefined || isHeading(before)) return undefined;
  const inside = Math.min(after.fresh, after.within.length);
  return inside * 2 + (after.gap === 2 ? 0 : 1) + (announces(before) ? 0.5 : 0);
}

function isHeading(leaf: Leaf): boolean {
  return leaf.kind === 'text' && leaf.heading !== undefined;
}

/** A line such as "Run this:" belongs to what follows. */
function announces(leaf: Leaf): boolean {
  return leaf.kind === 'text' && /[:：]\s*$/.test(leaf.runs.at(-1)?.text.slice(-8) ?? '');
}

function boundaryAt(leaves: readonly Leaf[], count: number): Step {
  return { head: leaves.slice(0, count), rest: leaves.slice(count) };
}

/** Fills the part with the beginning of the leaf that did not fit. */
function cutNext(ahead: Leaf[], fitting: number, room: Room): Step {
  const before = ahead.slice(0, fitting);
  const after = ahead.slice(fitting + 1);
  const next = ahead[fitting];
  if (next === undefined) return boundaryAt(ahead, fitting);
  const space: Space = {
    load: (beginning) => room.load([...before, beginning]),
    loadAlone: (stretch) => room.load([stretch]),
    window: room.window,
    isEmpty: fitting === 0,
    cutsIn: betweenGraphemes,
  };
  const halves = cut(next, space);
  if (halves !== undefined) return stepAfter(before, halves, after);
  const withoutHeadings = 1 + before.findLastIndex((leaf) => !isHeading(leaf));
  if (withoutHeadings > 0) return boundaryAt(ahead, withoutHeadings);
  // A heading that fills the part, or before a link or row that only fits into a part of its own.
  if (fitting > 0) return boundaryAt(ahead, fitting);
  const simpler = simplify(next);
  if (simpler !== undefined) return { head: [], rest: [...simpler, ...after] };
  // A single character longer than a part has to be broken; the least one fits every target.
  const broken = cut(next, { ...space, cutsIn: betweenCodePoints });
  return broken === undefined ? boundaryAt(ahead, 1) : stepAfter(before, broken, after);
}

function stepAfter(before: Leaf[], [head, tail]: [Leaf, Leaf], after: Leaf[]): Step {
  return { head: [...before, head], rest: isVisible(tail) ? [tail, ...after] : after };
}

function cut(leaf: Leaf, space: Space): [Leaf, Leaf] | undefined {
  switch (leaf.kind) {
    case 'text':
      return cutText(leaf, space);
    case 'code':
      return cutCode(leaf, space);
    case 'grid':
    case 'table':
      return cutRows(leaf, space);
    case 'rule':
      return undefined;
  }
}
