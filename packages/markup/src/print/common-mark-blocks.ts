import type {
  CodeLeaf,
  GridLeaf,
  ItemMarker,
  Leaf,
  LeafContainer,
  TableLeaf,
  TextLeaf,
  TextRun,
} from '../document.ts';
import { type InlineSyntax, writeInlines } from './common-mark-text.ts';
import { getLanguageClass } from './html.ts';
import { ZERO_WIDTH_SPACE } from './invisible.ts';
import { findCommonPrefix, formatFixedWidth, formatMarker, type PrintedPart } from './lines.ts';

/** The differences between platforms that take Markdown. */
export interface CommonMarkDialect extends InlineSyntax {
  readonly headings: boolean;
  /** Whether list items can have a checkbox. */
  readonly tasks: boolean;
  readonly rule: string;
  /** Whether the fence of a block may have more than three backticks. */
  readonly longFences: boolean;
}

/** Prints leaves as Markdown. */
export function printCommonMark(leaves: readonly Leaf[], dialect: CommonMarkDialect): PrintedPart {
  const layout: ListLayout = { lists: new Map(), last: new Map(), items: new Map() };
  let text = '';
  let before: Leaf | undefined;
  for (const leaf of leaves) {
    const gap = before === undefined ? '' : getGapBefore(before, leaf, layout);
    text += gap + printLeaf(leaf, startLeaf(leaf, layout, dialect), dialect);
    before = leaf;
  }
  return { text, counted: text, entities: 0 };
}

type ListContainer = LeafContainer & { readonly type: 'list' };
type ItemContainer = LeafContainer & { readonly type: 'item' };

/** The lists and items begun in this message so far. */
interface ListLayout {
  /** The text after an item's number, or its bullet. */
  readonly lists: Map<ListContainer, ListStyle>;
  /** The last list whose items are written behind a prefix. */
  readonly last: Map<string, ListContainer>;
  /** The indent of the lines after the first of each item. */
  readonly items: Map<ItemContainer, number>;
}

/** Adjacent lists have different marker characters; otherwise they would merge. */
type ListStyle = 0 | 1;
const BULLETS = ['- ', '* '] as const;
const AFTER_NUMBER = ['. ', ') '] as const;

interface LeafPlace {
  /** Separate lines before the leaf. */
  readonly above: readonly string[];
  readonly first: string;
  readonly rest: string;
  /** Whether a list item begins with the leaf. */
  readonly hasMarker: boolean;
}

function startLeaf(leaf: Leaf, layout: ListLayout, dialect: CommonMarkDialect): LeafPlace {
  const above: string[] = [];
  let first = '';
  let rest = '';
  let label = '';
  let hasMarker = false;
  // Text before the content is a separate paragraph when the content is not a paragraph.
  const endLabel = () => {
    if (label === '') return;
    above.push((first + label).trimEnd(), rest.trimEnd());
    first = rest;
    label = '';
  };
  for (const [index, container] of leaf.within.entries()) {
    if (container.type === 'quote') {
      if (index >= leaf.fresh) endLabel();
      first += '> ';
      rest += '> ';
    } else if (container.type === 'item' && index < leaf.fresh) {
      const indent = ' '.repeat(layout.items.get(container) ?? 0);
      first += indent;
      rest += indent;
    } else if (container.type === 'item') {
      endLabel();
      const list = leaf.within[index - 1];
      if (container.marker.label === undefined && list?.type === 'list') {
        const marker = formatItemMarker(container.marker, chooseStyle(list, rest, layout));
        layout.items.set(container, marker.length);
        first += marker;
        rest += ' '.repeat(marker.length);
        hasMarker = true;
      }
      label = formatLabel(container.marker, isTaskItem(leaf, index) && dialect.tasks, dialect);
    }
  }
  if (leaf.kind !== 'text' || (leaf.heading !== undefined && dialect.headings)) endLabel();
  return { above, first: first + label, rest, hasMarker };
}

/** Whether the content of this item is a paragraph, which a checkbox requires. */
function isTaskItem(leaf: Leaf, index: number): boolean {
  return leaf.kind === 'text' && leaf.heading === undefined && index === leaf.within.length - 1;
}

function formatItemMarker({ number }: ItemMarker, style: ListStyle): string {
  return number === undefined ? BULLETS[style] : `${number}${AFTER_NUMBER[style]}`;
}

/** The text between an item's bullet and its content: a checkbox or the name of a footnote. */
function formatLabel({ label, done }: ItemMarker, isNative: boolean, syntax: InlineSyntax): string {
  if (label !== undefined) return syntax.escape(formatMarker({ label }), '');
  if (done === undefined) return '';
  if (isNative) return done ? '[x] ' : '[ ] ';
  return formatMarker({ done });
}

/**
 * The style of a list whose next item is written behind this prefix. The previous list behind this
 * prefix may contain the new list, if its item began in an earlier message.
 */
function chooseStyle(list: ListContainer, prefix: string, { lists, last }: ListLayout): ListStyle {
  for (const other of last.keys()) {
    if (other.length > prefix.length && other.startsWith(prefix)) last.delete(other);
  }
  const before = last.get(prefix);
  last.set(prefix, list);
  const known = lists.get(list);
  if (known !== undefined) return known;
  const isAlike =
    before !== undefined && (before.start === undefined) === (list.start === undefined);
  const style = isAlike && lists.get(before) === 0 ? 1 : 0;
  lists.set(list, style);
  return style;
}

/**
 * Only items, and blocks that an item may contain without an empty line, follow directly; any other
 * block would continue the previous paragraph.
 */
function getGapBefore(before: Leaf, leaf: Leaf, layout: ListLayout): string {
  if (leaf.gap === 1 && canFollowDirectly(before, leaf, layout)) return '\n';
  let prefix = '';
  for (const container of findCommonPrefix(before.within, leaf.within)) {
    if (container.type === 'quote') prefix += '> ';
    if (container.type === 'item') prefix += ' '.repeat(layout.items.get(container) ?? 0);
  }
  return `\n${prefix.trimEnd()}\n`;
}

function canFollowDirectly(before: Leaf, leaf: Leaf, { lists, items }: ListLayout): boolean {
  if (before.kind === 'table') return false;
  const begins = leaf.within[leaf.fresh];
  const parent = leaf.within[leaf.fresh - 1];
  if (begins === undefined)
    return leaf.kind === 'code' && before.within.length === leaf.within.length;
  if (begins.type === 'item') return parent?.type === 'list' && lists.has(parent);
  // A list in an item, directly after the item's text: only some numbers may interrupt that text.
  const item = leaf.within[leaf.fresh + 1];
  const isIn = parent?.type === 'item' && items.has(parent) && before.within.at(-1) === parent;
  const mayInterrupt = item?.type === 'item' && (item.marker.number ?? 1) === 1;
  return begins.type === 'list' && isIn && mayInterrupt && item.marker.label === undefined;
}

function printLeaf(leaf: Leaf, place: LeafPlace, dialect: CommonMarkDialect): string {
  const { above, first, rest } = place;
  const lines = printLeafLines(leaf, place, dialect);
  const shown = lines.map((line, index) => {
    const prefix = index === 0 ? first : rest;
    return line === '' ? prefix.trimEnd() : prefix + line;
  });
  return [...above, ...shown].join('\n');
}

function printLeafLines(
  leaf: Leaf,
  { hasMarker }: LeafPlace,
  dialect: CommonMarkDialect,
): string[] {
  switch (leaf.kind) {
    case 'text':
      return printTextLines(leaf, hasMarker, dialect);
    case 'code':
    case 'grid':
      return printCodeLines(leaf, dialect);
    case 'table':
      return printTableLines(leaf, dialect);
    case 'rule':
      return [dialect.rule];
  }
}

function printTextLines(leaf: TextLeaf, hasMarker: boolean, dialect: CommonMarkDialect): string[] {
  if (leaf.heading !== undefined && dialect.headings) {
    const sign = '#'.repeat(leaf.heading);
    const text = writeInlines(leaf.runs, dialect, 'heading');
    // Characters such as `#` at the end would not be shown.
    return [`${sign} ${text.replace(/#$/, '\\#')}`];
  }
  const text = writeInlines(leaf.runs, dialect);
  // An item without content could be parsed as a rule, and cannot interrupt a paragraph.
  if (text === '') return hasMarker ? [ZERO_WIDTH_SPACE] : [''];
  return text.split('\n');
}

function printCodeLines(leaf: CodeLeaf | GridLeaf, { longFences }: CommonMarkDialect): string[] {
  const text = formatFixedWidth(leaf);
  const language = leaf.kind === 'code' ? formatLanguage(leaf) : '';
  if (longFences) {
    let fence = '```';
    for (const [ticks] of text.matchAll(/`{3,}/g)) {
      if (ticks.length >= fence.length) fence = `${ticks}\``;
    }
    return [fence + language, ...text.split('\n'), fence];
  }
  const shown = text.replaceAll(/`{3,}/g, (ticks) => [...ticks].join(ZERO_WIDTH_SPACE));
  return [`\`\`\`${language}`, ...shown.split('\n'), '```'];
}

function formatLanguage({ language }: CodeLeaf): string {
  return getLanguageClass(language)?.replace(/^language-/, '') ?? '';
}

const RULES = { left: ':--', center: ':-:', right: '--:' } as const;

function printTableLines({ header, rows, align }: TableLeaf, dialect: CommonMarkDialect): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const row = (cells: readonly (readonly TextRun[])[]) =>
    line(cells.map((cell) => writeInlines(cell, dialect, 'cell')));
  const rules = header.map((_, column) => {
    const side = align[column];
    return side === undefined ? '---' : RULES[side];
  });
  return [row(header), line(rules), ...rows.map(row)];
}
