import type { Nodes, RootContent } from 'mdast';
import type { DialectCapabilities } from '../capabilities.ts';
import type { Container, Leaf } from '../document.ts';
import { type Draft, draftBlocks } from '../transform/blocks.ts';
import { finishLeaf } from '../transform/finish-leaf.ts';
import { collectReferences, findBeginnings } from '../transform/to-leaves.ts';
import type { Segment } from './parse-segment.ts';

/** What a segment has to know about the ones before it. */
export interface Before {
  /** Line ends before the next leaf, if no empty line stands in between anyway. */
  readonly gap: 1 | 2;
  /** The list that the next segment begins in the middle of. */
  readonly list: OpenList | undefined;
  /** Definitions that something has referred to so far. */
  readonly used: ReadonlySet<string>;
}

interface OpenList {
  readonly container: Container;
  /** The number of the next item. */
  readonly next: number | undefined;
}

/** What leaves are made for. */
export interface DraftTarget {
  readonly capabilities: DialectCapabilities;
  readonly pings: DialectCapabilities['pings'];
}

/** A segment's leaves, and what the next one has to know. */
export interface Drafted {
  readonly leaves: Leaf[];
  readonly before: Before;
}

/** Turns parsed top-level blocks into the leaves they would be as part of the whole document. */
export function draftSegment(segment: Segment, before: Before, target: DraftTarget): Drafted {
  const { root, source, nodes, firstLine } = segment;
  const references = collectReferences([root]);
  const used =
    references.used.size === 0 ? before.used : new Set([...before.used, ...references.used]);
  const context = { ...references, used, source, capabilities: target.capabilities };
  const drafts: Draft[] = [];
  let left = before.gap;
  let list: OpenList | undefined;
  let endLine = firstLine - 1;
  for (const [index, node] of nodes.entries()) {
    const continued = index === 0 ? before.list : undefined;
    const gap = lineOf(node, 'start') - endLine > 1 ? 2 : left;
    const own = draftBlocks([renumbered(node, continued)], { within: [], gap }, context);
    for (const draft of own) drafts.push(moved(draft, continued));
    list = openList(node, own, continued);
    left = own.length === 0 ? gap : 1;
    endLine = lineOf(node, 'end');
  }
  const seen = new Set<Container>(before.list === undefined ? [] : [before.list.container]);
  const leaves = findBeginnings(drafts, seen).map((leaf) => finishLeaf(leaf, target.pings));
  const isCut = segment.nextLine !== undefined && segment.inList;
  const gap = segment.nextLine !== undefined && segment.nextLine - endLine > 1 ? 2 : left;
  return { leaves, before: { gap, used, list: isCut ? list : undefined } };
}

function lineOf(node: Nodes, side: 'start' | 'end'): number {
  return node.position?.[side].line ?? 0;
}

/** The list goes on counting where its earlier items ended. */
function renumbered(node: RootContent, list: OpenList | undefined): RootContent {
  return node.type === 'list' && list?.next !== undefined ? { ...node, start: list.next } : node;
}

/** The draft with the list that it continues in place of its own. */
function moved(draft: Draft, list: OpenList | undefined): Draft {
  if (list === undefined) return draft;
  return { ...draft, within: [list.container, ...draft.within.slice(1)] };
}

function openList(
  node: RootContent,
  drafts: readonly Draft[],
  continued: OpenList | undefined,
): OpenList | undefined {
  const container = continued?.container ?? drafts[0]?.within[0];
  if (node.type !== 'list' || container === undefined) return undefined;
  const first = continued?.next ?? (node.ordered ? (node.start ?? 1) : undefined);
  return { container, next: first === undefined ? undefined : first + node.children.length };
}
