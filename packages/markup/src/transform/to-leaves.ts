import type { RenderTarget } from '@parley/contracts';
import type { Nodes, Root } from 'mdast';
import type { DialectCapabilities } from '../capabilities.ts';
import type { Container, Leaf } from '../document.ts';
import type { Parsed } from '../parse/parse.ts';
import { type Steps, stepEvery } from '../steps.ts';
import { type BlockContext, type Draft, draftBlocks } from './blocks.ts';
import { finishLeaf } from './finish-leaf.ts';

/** Literal text that is taken in one step, in characters; a piece costs as much as so many of them. */
const STEP = 400_000;
const PIECE = 100;

/**
 * Turns parsed Markdown into the leaves that a dialect with these capabilities can print, a step for
 * each piece.
 * @param mentions `live` leaves what would ping people as it is.
 */
export function* toLeaves(
  pieces: readonly Parsed[],
  capabilities: DialectCapabilities,
  mentions?: RenderTarget['mentions'],
): Steps<Leaf[]> {
  const references = collectReferences(
    pieces.flatMap((piece) => (piece.type === 'tree' ? [piece.root] : [])),
  );
  const context = { ...references, capabilities };
  const pings = mentions === 'live' ? [] : capabilities.pings;
  const isStep = stepEvery(STEP);
  const leaves: Leaf[] = [];
  for (const [index, piece] of pieces.entries()) {
    if (piece.type === 'tree' || isStep(piece.text.length + PIECE)) yield;
    const gap = pieces[index - 1]?.endsBlank === false ? 1 : 2;
    // Not spread into `push`: a piece of many leaves would overflow the stack.
    for (const leaf of findBeginnings(draftPiece(piece, gap, context))) {
      leaves.push(finishLeaf(leaf, pings));
    }
  }
  return leaves;
}

function draftPiece(piece: Parsed, gap: 1 | 2, context: Omit<BlockContext, 'source'>): Draft[] {
  if (piece.type === 'literal') return draftLiteral(piece.text, gap);
  if (piece.type === 'code') {
    if (piece.text.trim() === '') return [];
    return [{ kind: 'code', language: piece.language, text: piece.text, within: [], gap }];
  }
  const { root, source, shownFrom } = piece;
  const own = root.children.filter((node) => (node.position?.start.offset ?? 0) >= shownFrom);
  return draftBlocks(own, { within: [], gap }, { ...context, source });
}

/**
 * Finds out which containers begin with which leaf.
 * @param seen containers that have begun before; those of these leaves are added.
 */
export function findBeginnings(
  drafts: readonly Draft[],
  seen: Set<Container> = new Set<Container>(),
): Leaf[] {
  return drafts.map((draft) => {
    const first = draft.within.findIndex((container) => !seen.has(container));
    for (const container of draft.within) seen.add(container);
    return { ...draft, fresh: first < 0 ? draft.within.length : first };
  });
}

/** Text as written, a leaf for each paragraph. */
function draftLiteral(text: string, firstGap: 1 | 2): Draft[] {
  return text
    .split('\n\n')
    .filter((paragraph) => paragraph.trim() !== '')
    .map((paragraph, index) => ({
      kind: 'text',
      runs: [{ text: paragraph, marks: [] }],
      within: [],
      gap: index === 0 ? firstGap : 2,
    }));
}

/** Addresses by definition, and which definitions are referred to. */
export function collectReferences(roots: readonly Root[]): {
  addresses: Map<string, string>;
  used: Set<string>;
} {
  const addresses = new Map<string, string>();
  const used = new Set<string>();
  const visit = (node: Nodes) => {
    if (node.type === 'definition' && !addresses.has(node.identifier)) {
      addresses.set(node.identifier, node.url);
    } else if (node.type === 'linkReference' || node.type === 'imageReference') {
      used.add(node.identifier);
    }
    if ('children' in node) for (const child of node.children) visit(child);
  };
  for (const root of roots) visit(root);
  return { addresses, used };
}
