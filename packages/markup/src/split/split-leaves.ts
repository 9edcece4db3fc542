import type { Leaf } from '../document.ts';
import { cutCode, cutRows } from './cut-lines.ts';
import { cutText } from './cut-text.ts';
import { mostWithin } from './search.ts';
import { simplify } from './simplify.ts';

/** What the splitter must know about the target. */
export interface Room {
  /** How full a part with these leaves would be; up to 1 it can be sent. Grows with the leaves. */
  load(leaves: readonly Leaf[]): number;
  /** More UTF-16 units than any part can hold; looking further would be a waste. */
  readonly window: number;
}

/** Below this load a part is rather filled up with half a paragraph than sent so short. */
const FULL_ENOUGH = 0.5;

/** Splits a document into parts that fit, at the best places there are. Loses and doubles nothing. */
export function splitLeaves(leaves: readonly Leaf[], room: Room): Leaf[][] {
  const parts: Leaf[][] = [];
  let rest = [...leaves];
  while (rest.length > 0) {
    const fitting = mostWithin(rest.length, (count) => room.load(rest.slice(0, count)));
    if (fitting === rest.length) {
      parts.push(rest);
      break;
    }
    const step = goodBoundary(rest, fitting, room) ?? cutNext(rest, fitting, room);
    if (step.head.length > 0) parts.push(step.head);
    rest = step.rest;
  }
  return parts;
}

interface Step {
  readonly head: Leaf[];
  readonly rest: Leaf[];
}

/** The best place between leaves that leaves the part full enough; later is better among equals. */
function goodBoundary(leaves: readonly Leaf[], fitting: number, room: Room): Step | undefined {
  let best: { count: number; rank: number } | undefined;
  const load = (count: number) => room.load(leaves.slice(0, count)) / FULL_ENOUGH;
  const least = 1 + mostWithin(fitting, load);
  for (let count = fitting; count >= least; count -= 1) {
    const rank = boundaryRank(leaves[count - 1], leaves[count]);
    if (rank !== undefined && (best === undefined || rank < best.rank)) best = { count, rank };
  }
  return best === undefined ? undefined : boundaryAt(leaves, best.count);
}

/** 0 between top-level blocks, more the deeper the place; a heading stays with what follows it. */
function boundaryRank(before: Leaf | undefined, after: Leaf | undefined): number | undefined {
  if (before === undefined || after === undefined) return undefined;
  if (before.kind === 'text' && before.heading !== undefined) return undefined;
  const inside = Math.min(after.fresh, after.within.length);
  return inside * 2 + (after.gap === 2 ? 0 : 1);
}

function boundaryAt(leaves: readonly Leaf[], count: number): Step {
  return { head: leaves.slice(0, count), rest: leaves.slice(count) };
}

/** Fills the part with the beginning of the leaf that did not fit. */
function cutNext(leaves: readonly Leaf[], fitting: number, room: Room): Step {
  const before = leaves.slice(0, fitting);
  const after = leaves.slice(fitting + 1);
  const next = leaves[fitting];
  if (next === undefined) return boundaryAt(leaves, fitting);
  const halves = cut(next, before, room);
  if (halves !== undefined) return { head: [...before, halves[0]], rest: [halves[1], ...after] };
  if (before.length > 0) return boundaryAt(leaves, withoutTrailingHeadings(before));
  const simpler = simplify(next);
  if (simpler !== undefined) return { head: [], rest: [...simpler, ...after] };
  // Not even one character fits; the target's minimum length makes this impossible.
  return boundaryAt(leaves, 1);
}

function withoutTrailingHeadings(before: readonly Leaf[]): number {
  const last = before.findLastIndex((leaf) => leaf.kind !== 'text' || leaf.heading === undefined);
  return last < 0 ? before.length : last + 1;
}

function cut(leaf: Leaf, before: readonly Leaf[], room: Room): [Leaf, Leaf] | undefined {
  const fits = (head: Leaf) => room.load([...before, head]) <= 1;
  switch (leaf.kind) {
    case 'text':
      return cutText(leaf, fits, room.window, before.length > 0);
    case 'code':
      return cutCode(leaf, fits, room.window, before.length === 0);
    case 'grid':
    case 'table':
      return cutRows(leaf, fits);
    case 'rule':
      return undefined;
  }
}
