import type { RenderTarget } from '@parley/contracts';
import type { Nodes } from 'mdast';
import type { DialectCapabilities } from '../capabilities.ts';
import type { Container, Leaf } from '../document.ts';
import type { Parsed } from '../parse/parse.ts';
import type { Steps } from '../steps.ts';
import { type BlockContext, type Draft, draftBlocks } from './blocks.ts';
import { finishLeaf } from './finish-leaf.ts';

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
  const references = collectReferences(pieces);
  const drafts: Draft[] = [];
  for (const [index, piece] of pieces.entries()) {
    yield;
    const gap = pieces[index - 1]?.endsBlank === false ? 1 : 2;
    const context = { ...references, capabilities };
    // Not spread into `push`: a piece of many leaves would overflow the stack.
    for (const draft of draftPiece(piece, gap, context)) drafts.push(draft);
  }
  const pings = mentions === 'live' ? [] : capabilities.pings;
  return findBeginnings(drafts).map((leaf) => finishLeaf(leaf, pings));
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

function findBeginnings(drafts: readonly Draft[]): Leaf[] {
  const seen = new Set<Container>();
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

function collectReferences(pieces: readonly Parsed[]): {
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
  for (const piece of pieces) if (piece.type === 'tree') visit(piece.root);
  return { addresses, used };
}
