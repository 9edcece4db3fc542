import { decodeLiteralText, type RenderTarget } from '@parley/core';
import type { Nodes, Root, RootContent } from 'mdast';
import type { DialectCapabilities } from '../capabilities.ts';
import type { ItemMarker, Leaf, LeafContainer, TableLeaf, TextRun } from '../document.ts';
import type { ParsedSegment } from '../parse/parse.ts';
import { createStepCounter, type Steps } from '../steps.ts';
import { addMarkToRuns, type InlineContext, isLineBreak, toRuns } from './inlines.ts';
import { joinEqualRuns, neutralizeTextMentions } from './runs.ts';
import { sanitizeLeaf } from './sanitize-leaf.ts';
import {
  chooseRowGap,
  createRowContainers,
  formatHeader,
  formatRowTexts,
  isEmptyCell,
  layOutGrid,
  readTable,
} from './tables.ts';

/**
 * The amount of literal text processed in one step, in characters, and the number of characters
 * that a piece counts as.
 */
const STEP = 400_000;
const PIECE = 100;

/**
 * Converts parsed Markdown to the leaves that a dialect with these capabilities can print, with a
 * step for each piece.
 * @param mentions `live` keeps text that would notify people unchanged.
 */
export function* toLeaves(
  pieces: readonly ParsedSegment[],
  capabilities: DialectCapabilities,
  mentions?: RenderTarget['mentions'],
): Steps<Leaf[]> {
  const references = collectReferences(
    pieces.flatMap((piece) => (piece.type === 'tree' ? [piece.root] : [])),
  );
  const pings = mentions === 'live' ? undefined : capabilities.pings;
  const context = { ...references, capabilities, pings };
  const isStep = createStepCounter(STEP);
  const leaves: Leaf[] = [];
  for (const [index, piece] of pieces.entries()) {
    if (piece.type === 'tree' || isStep(piece.text.length + PIECE)) yield;
    const gap = pieces[index - 1]?.endsBlank === false ? 1 : 2;
    // The leaves are not spread into `push`, because a piece with many leaves would overflow the
    // stack.
    for (const leaf of assignContainerStarts(draftPiece(piece, gap, context))) {
      leaves.push(sanitizeLeaf(leaf, pings));
    }
  }
  return leaves;
}

function draftPiece(
  piece: ParsedSegment,
  gap: 1 | 2,
  context: Omit<BlockContext, 'source'>,
): LeafDraft[] {
  if (piece.type === 'literal') return draftLiteral(piece.text, gap);
  if (piece.type === 'code') {
    if (piece.text.trim() === '') return [];
    return [{ kind: 'code', language: piece.language, text: piece.text, within: [], gap }];
  }
  const { root, source, shownFrom } = piece;
  const own = root.children.filter((node) => (node.position?.start.offset ?? 0) >= shownFrom);
  return draftBlocks(own, { within: [], gap }, { ...context, source });
}

/** Determines which containers begin with which leaf; containers in `before` began earlier. */
function assignContainerStarts(
  drafts: readonly LeafDraft[],
  before: readonly LeafContainer[] = [],
): Leaf[] {
  const seen = new Set<LeafContainer>(before);
  return drafts.map((draft) => {
    const first = draft.within.findIndex((container) => !seen.has(container));
    for (const container of draft.within) seen.add(container);
    return { ...draft, fresh: first < 0 ? draft.within.length : first };
  });
}

/** Text as written, with a leaf for each paragraph. */
function draftLiteral(text: string, firstGap: 1 | 2): LeafDraft[] {
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

/** URLs by definition, and the referenced definitions. */
function collectReferences(roots: readonly Root[]): {
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

/** A leaf without information about which containers begin with it. */
type LeafDraft = Leaf extends infer Kind
  ? Kind extends Leaf
    ? Omit<Kind, 'fresh'>
    : never
  : never;

interface BlockContext extends InlineContext {
  /** The source text that positions refer to. */
  readonly source: string;
  /** Definitions with at least one reference; unused ones are shown as written. */
  readonly used: ReadonlySet<string>;
  readonly pings: DialectCapabilities['pings'];
}

interface DraftPlace {
  readonly within: readonly LeafContainer[];
  readonly gap: 1 | 2;
}

/** Empty lines stay where the author put them. */
function draftBlocks(
  nodes: readonly RootContent[],
  place: DraftPlace,
  context: BlockContext,
): LeafDraft[] {
  const drafts: LeafDraft[] = [];
  // A block without visible content passes its empty line on to the next block.
  let left: 1 | 2 = 1;
  for (const [index, node] of nodes.entries()) {
    const between: 1 | 2 = getSourceGap(nodes[index - 1], node) === 2 ? 2 : left;
    const gap = drafts.length === 0 ? place.gap : between;
    const own = draftBlock(node, { within: place.within, gap }, context);
    for (const draft of own) drafts.push(draft);
    left = own.length === 0 ? between : 1;
  }
  return drafts;
}

function getSourceGap(before: Nodes | undefined, node: Nodes): 1 | 2 | undefined {
  if (before === undefined) return undefined;
  const start = node.position?.start.line ?? 0;
  return start - getLastLine(before) > 1 ? 2 : 1;
}

/** The parser includes the empty line after a list in a quote; the last child's end is correct. */
function getLastLine(node: Nodes): number {
  let last = node;
  while (last.type === 'list' || last.type === 'listItem') {
    const child: Nodes | undefined = last.children.at(-1);
    if (child === undefined) break;
    last = child;
  }
  return last.position?.end.line ?? 0;
}

function draftBlock(node: RootContent, place: DraftPlace, context: BlockContext): LeafDraft[] {
  const text = (runs: readonly TextRun[]): LeafDraft[] =>
    runs.length === 0 ? [] : [{ kind: 'text', runs, ...place }];
  switch (node.type) {
    case 'paragraph':
      return text(toRuns(node.children, context));
    case 'heading':
      return draftHeading(node, place, context);
    case 'code':
      // The block has no visible content, and platforms refuse such messages.
      if (node.value.trim() === '') return [];
      return [{ kind: 'code', language: node.lang ?? undefined, text: node.value, ...place }];
    case 'thematicBreak':
      return [{ kind: 'rule', ...place }];
    case 'blockquote':
      return draftBlocks(node.children, enterQuotePlace(place, context), context);
    case 'list':
      return draftList(node, place, context);
    case 'table':
      return draftTable(node, place, context);
    case 'footnoteDefinition':
      return draftFootnote(node, place, context);
    case 'html':
      return isLineBreak(node.value.trim()) ? [] : text([{ text: node.value, marks: [] }]);
    case 'definition':
      return context.used.has(node.identifier) ? [] : text(toRawRuns(node, context));
    default:
      return text(toRawRuns(node, context));
  }
}

function toRawRuns(node: Nodes, context: BlockContext): TextRun[] {
  return [{ text: decodeLiteralText(getSource(node, context)), marks: [] }];
}

function getSource({ position }: Nodes, { source }: BlockContext): string {
  return source.slice(position?.start.offset ?? 0, position?.end.offset ?? 0);
}

const MIN_RULE = 3;

/**
 * The underline that turns the text above it into a heading unintentionally: a rule below several
 * lines or a whole sentence, or one or two characters (`--` of a signature, `=` of a sum).
 */
function findAccidentalUnderline(heading: string): string | undefined {
  const lastLine = heading.lastIndexOf('\n');
  if (lastLine < 0) return undefined;
  const above = heading.slice(0, lastLine);
  const [, underline] = /^\n[> \t]*(-+|=+)[ \t]*$/.exec(heading.slice(lastLine)) ?? [];
  if (underline === undefined || underline.length < MIN_RULE) return underline;
  const isRule = underline.startsWith('-') && (above.includes('\n') || /[.!?…]$/.test(above));
  return isRule ? underline : undefined;
}

function draftHeading(
  node: Extract<RootContent, { type: 'heading' }>,
  place: DraftPlace,
  context: BlockContext,
): LeafDraft[] {
  const runs = toRuns(node.children, context);
  if (runs.length === 0) return [];
  const underline = findAccidentalUnderline(getSource(node, context));
  if (underline !== undefined) {
    const below: DraftPlace = { within: place.within, gap: 1 };
    const rule: LeafDraft =
      underline.length < MIN_RULE
        ? { kind: 'text', runs: [{ text: underline, marks: [] }], ...below }
        : { kind: 'rule', ...below };
    return [{ kind: 'text', runs, ...place }, rule];
  }
  const shown =
    node.depth > context.capabilities.headingLevels
      ? addMarkToRuns(runs, { type: 'bold' }, context)
      : runs;
  return [{ kind: 'text', runs: shown, heading: node.depth, ...place }];
}

function enterQuotePlace({ within, gap }: DraftPlace, { capabilities }: BlockContext): DraftPlace {
  const quoted = within.some(({ type }) => type === 'quote');
  return {
    within: quoted && !capabilities.nestedQuotes ? within : [...within, { type: 'quote' }],
    gap,
  };
}

function draftList(
  list: Extract<RootContent, { type: 'list' }>,
  place: DraftPlace,
  context: BlockContext,
): LeafDraft[] {
  const numbers = list.ordered ? listNumbers(list, context) : [];
  let inside: LeafContainer[] = [...place.within, { type: 'list', start: numbers[0] }];
  return list.children.flatMap((item, index): LeafDraft[] => {
    const number = numbers[index];
    const isJump = number !== undefined && index > 0 && number !== (numbers[index - 1] ?? 0) + 1;
    // Platforms number lists automatically.
    if (isJump) inside = [...place.within, { type: 'list', start: number }];
    const marker: ItemMarker = {
      ...(number === undefined ? {} : { number }),
      ...(typeof item.checked === 'boolean' ? { done: item.checked } : {}),
    };
    const gap = getSourceGap(list.children[index - 1], item) ?? place.gap;
    const itemPlace: DraftPlace = { within: [...inside, { type: 'item', marker }], gap };
    return draftItem(item.children, itemPlace, context);
  });
}

/**
 * Markdown counts from the first number; written numbers that increase or count down refer to
 * questions, dates or ranks, so they are kept.
 */
function listNumbers(
  { children, start }: Extract<RootContent, { type: 'list' }>,
  { source }: BlockContext,
): readonly number[] {
  const written = children.map(({ position }) => {
    const at = position?.start.offset ?? 0;
    return Number(/^\d{1,9}/.exec(source.slice(at, at + MAX_NUMBER))?.[0] ?? Number.NaN);
  });
  const steps = written.slice(1).map((number, index) => number - (written[index] ?? 0));
  const isMeant = steps.every((step) => step > 0) || steps.every((step) => step === -1);
  return isMeant ? written : children.map((_, index) => (start ?? 1) + index);
}

const MAX_NUMBER = 9;

/** An item shows its marker even if it has no other content. */
function draftItem(
  children: readonly RootContent[],
  place: DraftPlace,
  context: BlockContext,
): LeafDraft[] {
  const drafts = draftBlocks(children, place, context);
  return drafts.length === 0 ? [{ kind: 'text', runs: [], ...place }] : drafts;
}

function draftFootnote(
  node: Extract<RootContent, { type: 'footnoteDefinition' }>,
  { within, gap }: DraftPlace,
  context: BlockContext,
): LeafDraft[] {
  const list: LeafContainer = { type: 'list', start: undefined };
  const label = neutralizeTextMentions(node.label ?? node.identifier, context.pings);
  const item: LeafContainer = { type: 'item', marker: { label } };
  return draftItem(node.children, { within: [...within, list, item], gap }, context);
}

function draftTable(
  node: Extract<RootContent, { type: 'table' }>,
  place: DraftPlace,
  context: BlockContext,
): LeafDraft[] {
  const table = readTable(node, context);
  const { tables } = context.capabilities;
  if (tables === 'native') return [{ kind: 'table', ...table, ...place }];
  return draftWithoutTable(table, place, tables.gridColumns);
}

function draftWithoutTable(
  table: Pick<TableLeaf, 'align' | 'header' | 'rows'>,
  place: DraftPlace,
  gridColumns: number,
): LeafDraft[] {
  const rows = table.rows.filter((row) => !row.every(isEmptyCell));
  if (rows.length === 0 && table.header.every(isEmptyCell)) return [];
  const grid = layOutGrid({ ...table, rows }, gridColumns);
  if (grid !== undefined) return [{ kind: 'grid', ...grid, ...place }];
  if (rows.length === 0) return [{ kind: 'text', runs: formatHeader(table.header), ...place }];
  const paths = createRowContainers(place.within, rows.length);
  const texts = formatRowTexts(table.header, rows);
  const gap = chooseRowGap(texts);
  return texts.map((runs, index) => ({
    kind: 'text',
    runs,
    within: paths[index] ?? place.within,
    gap: index === 0 ? place.gap : gap,
  }));
}

/**
 * Converts a leaf of a richer dialect to the leaves that `toLeaves` would have made for a dialect
 * without headings, tables and formulas.
 */
export function simplifyLeaf(leaf: Leaf, capabilities: DialectCapabilities): readonly Leaf[] {
  const { tables } = capabilities;
  if (leaf.kind === 'table' && tables !== 'native') {
    const { within, fresh, gap, ...table } = leaf;
    const { gridColumns } = tables;
    const drafts = draftWithoutTable(table, { within, gap }, gridColumns);
    return assignContainerStarts(drafts, within.slice(0, fresh));
  }
  if (leaf.kind !== 'text') return [leaf];
  const runs = removeFormulas(leaf.runs);
  if (leaf.heading === undefined) return runs === leaf.runs ? [leaf] : [{ ...leaf, runs }];
  return [
    {
      ...leaf,
      runs: addMarkToRuns(runs, { type: 'bold' }, { capabilities, addresses: new Map() }),
    },
  ];
}

function removeFormulas(runs: readonly TextRun[]): readonly TextRun[] {
  if (!runs.some(({ marks }) => marks.some(({ type }) => type === 'math'))) return runs;
  return joinEqualRuns(
    runs.map(({ text, marks }) => ({ text, marks: marks.filter(({ type }) => type !== 'math') })),
  );
}
