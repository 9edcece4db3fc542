import type { Nodes, RootContent } from 'mdast';
import type { Container, Leaf, Marker, Run } from '../document.ts';
import { layOutGrid } from './grid.ts';
import { type InlineContext, markAll, toRuns } from './inlines.ts';
import { headerText, rowContainers, rowGap, rowTexts } from './rows.ts';
import { isEmpty, readTable } from './tables.ts';
import { isBreak } from './tags.ts';

/** A leaf that does not know yet which of its containers begin with it. */
export type Draft = Leaf extends infer Kind
  ? Kind extends Leaf
    ? Omit<Kind, 'fresh'>
    : never
  : never;

/** What block content needs to know besides itself. */
export interface BlockContext extends InlineContext {
  /** The text the positions refer to. */
  readonly source: string;
  /** Definitions that some reference uses; the others are shown as written. */
  readonly used: ReadonlySet<string>;
}

/** Where the next leaf stands. */
export interface Place {
  readonly within: readonly Container[];
  readonly gap: 1 | 2;
}

/** The leaves of sibling blocks. Empty lines stand where the writer put them. */
export function draftBlocks(
  nodes: readonly RootContent[],
  place: Place,
  context: BlockContext,
): Draft[] {
  const drafts: Draft[] = [];
  // What shows nothing leaves its empty line to what follows.
  let left: 1 | 2 = 1;
  for (const [index, node] of nodes.entries()) {
    const between: 1 | 2 = gapBetween(nodes[index - 1], node) === 2 ? 2 : left;
    const gap = drafts.length === 0 ? place.gap : between;
    const own = draftBlock(node, { within: place.within, gap }, context);
    for (const draft of own) drafts.push(draft);
    left = own.length === 0 ? between : 1;
  }
  return drafts;
}

function gapBetween(before: Nodes | undefined, node: Nodes): 1 | 2 | undefined {
  if (before === undefined) return undefined;
  const start = node.position?.start.line ?? 0;
  return start - lastLine(before) > 1 ? 2 : 1;
}

/** A list in a quote is said to end with the empty line behind it; what stands in it knows better. */
function lastLine(node: Nodes): number {
  let last = node;
  while (last.type === 'list' || last.type === 'listItem') {
    const child: Nodes | undefined = last.children.at(-1);
    if (child === undefined) break;
    last = child;
  }
  return last.position?.end.line ?? 0;
}

function draftBlock(node: RootContent, place: Place, context: BlockContext): Draft[] {
  const text = (runs: readonly Run[]): Draft[] =>
    runs.length === 0 ? [] : [{ kind: 'text', runs, ...place }];
  switch (node.type) {
    case 'paragraph':
      return text(toRuns(node.children, context));
    case 'heading':
      return draftHeading(node, place, context);
    case 'code':
      // Shows nothing, and no platform takes it.
      if (node.value.trim() === '') return [];
      return [{ kind: 'code', language: node.lang ?? undefined, text: node.value, ...place }];
    case 'thematicBreak':
      return [{ kind: 'rule', ...place }];
    case 'blockquote':
      return draftBlocks(node.children, inQuote(place, context), context);
    case 'list':
      return draftList(node, place, context);
    case 'table':
      return draftTable(node, place, context);
    case 'footnoteDefinition':
      return draftFootnote(node, place, context);
    case 'html':
      return isBreak(node.value.trim()) ? [] : text([{ text: node.value, marks: [] }]);
    case 'definition':
      return context.used.has(node.identifier) ? [] : text(asWritten(node, context));
    default:
      return text(asWritten(node, context));
  }
}

function asWritten(node: Nodes, { source }: BlockContext): Run[] {
  const { start, end } = node.position ?? {};
  return [{ text: source.slice(start?.offset ?? 0, end?.offset ?? 0), marks: [] }];
}

function draftHeading(
  node: Extract<RootContent, { type: 'heading' }>,
  place: Place,
  context: BlockContext,
): Draft[] {
  const runs = toRuns(node.children, context);
  if (runs.length === 0) return [];
  const shown =
    node.depth > context.capabilities.headingLevels
      ? markAll(runs, { type: 'bold' }, context)
      : runs;
  return [{ kind: 'text', runs: shown, heading: node.depth, ...place }];
}

function inQuote({ within, gap }: Place, { capabilities }: BlockContext): Place {
  const quoted = within.some(({ type }) => type === 'quote');
  return {
    within: quoted && !capabilities.nestedQuotes ? within : [...within, { type: 'quote' }],
    gap,
  };
}

function draftList(
  list: Extract<RootContent, { type: 'list' }>,
  place: Place,
  context: BlockContext,
): Draft[] {
  const start = list.ordered ? (list.start ?? 1) : undefined;
  const inside: Container[] = [...place.within, { type: 'list', start }];
  return list.children.flatMap((item, index): Draft[] => {
    const marker: Marker = {
      ...(start === undefined ? {} : { number: start + index }),
      ...(typeof item.checked === 'boolean' ? { done: item.checked } : {}),
    };
    const gap = gapBetween(list.children[index - 1], item) ?? place.gap;
    const itemPlace: Place = { within: [...inside, { type: 'item', marker }], gap };
    return draftItem(item.children, itemPlace, context);
  });
}

/** An item shows its marker even if it has nothing else. */
function draftItem(children: readonly RootContent[], place: Place, context: BlockContext): Draft[] {
  const drafts = draftBlocks(children, place, context);
  return drafts.length === 0 ? [{ kind: 'text', runs: [], ...place }] : drafts;
}

function draftFootnote(
  node: Extract<RootContent, { type: 'footnoteDefinition' }>,
  { within, gap }: Place,
  context: BlockContext,
): Draft[] {
  const list: Container = { type: 'list', start: undefined };
  const item: Container = { type: 'item', marker: { label: node.label ?? node.identifier } };
  return draftItem(node.children, { within: [...within, list, item], gap }, context);
}

function draftTable(
  node: Extract<RootContent, { type: 'table' }>,
  place: Place,
  context: BlockContext,
): Draft[] {
  const table = readTable(node, context);
  const { tables } = context.capabilities;
  if (tables === 'native') return [{ kind: 'table', ...table, ...place }];
  const rows = table.rows.filter((row) => !row.every(isEmpty));
  if (rows.length === 0 && table.header.every(isEmpty)) return [];
  const grid = layOutGrid({ ...table, rows }, tables.gridColumns);
  if (grid !== undefined) return [{ kind: 'grid', ...grid, ...place }];
  if (rows.length === 0) return [{ kind: 'text', runs: headerText(table.header), ...place }];
  const paths = rowContainers(place.within, rows.length);
  const texts = rowTexts(table.header, rows);
  const gap = rowGap(texts);
  return texts.map((runs, index) => ({
    kind: 'text',
    runs,
    within: paths[index] ?? place.within,
    gap: index === 0 ? place.gap : gap,
  }));
}
