import type { DialectCapabilities } from '../capabilities.ts';
import type {
  CodeLeaf,
  GridLeaf,
  ItemMarker,
  Leaf,
  RunMark,
  TableLeaf,
  TextRun,
} from '../document.ts';
import {
  findCommonMarks,
  findLink,
  formatUrlSuffix,
  neutralizeMentions,
  neutralizeTextMentions,
} from '../transform/runs.ts';

/** A printed part and the text that the platform counts. */
export interface PrintedPart {
  readonly text: string;
  /** The text that the length limit applies to: `text` itself, or only its visible part. */
  readonly counted: string;
  readonly entities: number;
}

/** Deeper lists are not indented further, because a phone screen is too narrow. */
const MAX_INDENTED_LEVELS = 8;
/** The name of a footnote may be long; this width fits `[1]`. */
const NOTE_INDENT = 4;
const QUOTE = '> ';

/** The prefixes of a leaf's first line and of its other lines. */
interface LinePrefix {
  readonly first: string;
  readonly rest: string;
  /** Whether a bullet or number is part of `first`. */
  readonly hasMarker: boolean;
}

/**
 * The prefix that a leaf's containers give its lines in dialects without list syntax.
 * @param from containers before this index are shown by other means.
 */
export function getLinePrefix(leaf: Leaf, from = 0): LinePrefix {
  let first = '';
  let rest = '';
  let hasMarker = false;
  for (const [index, container] of leaf.within.entries()) {
    if (index < from || container.type === 'list') continue;
    if (container.type === 'quote') {
      first += QUOTE;
      rest += QUOTE;
      continue;
    }
    const shown = formatMarker(container.marker);
    const width = container.marker.label === undefined ? shown.length : NOTE_INDENT;
    const indent = index >= MAX_INDENTED_LEVELS * 2 ? '' : ' '.repeat(width);
    const begins = index >= leaf.fresh;
    hasMarker ||= begins;
    first += begins ? shown : indent;
    rest += indent;
  }
  return { first, rest, hasMarker };
}

export function formatMarker({ label, number, done }: ItemMarker, bullet = '•'): string {
  if (label !== undefined) return `[${label}] `;
  const counter = number === undefined ? '' : `${number}. `;
  if (done !== undefined) return `${counter}${done ? '☑' : '☐'} `;
  return counter === '' ? `${bullet} ` : counter;
}

/** The empty line between two leaves of one quote belongs to the quote. */
function getEmptyLinePrefix(before: Leaf | undefined, leaf: Leaf): string {
  let prefix = '';
  for (const [index, container] of leaf.within.entries()) {
    if (before?.within[index] !== container) break;
    if (container.type === 'quote') prefix += QUOTE;
  }
  return prefix.trimEnd();
}

export function findCommonPrefix<Item>(a: readonly Item[], b: readonly Item[]): readonly Item[] {
  let depth = 0;
  while (depth < a.length && a[depth] === b[depth]) depth += 1;
  return a.slice(0, depth);
}

/** The functions that a printer provides for inline content. */
interface RunVisitor {
  open(mark: RunMark): void;
  close(mark: RunMark): void;
  text(text: string, index: number): void;
}

/**
 * Converts runs back into properly nested marks: closes the marks that end, innermost first, and
 * opens the marks that begin.
 */
export function walkRuns(runs: readonly TextRun[], visitor: RunVisitor): void {
  const open: RunMark[] = [];
  const closeDownTo = (depth: number) => {
    for (const mark of open.splice(depth).reverse()) visitor.close(mark);
  };
  for (const [index, { text, marks }] of runs.entries()) {
    const common = findCommonMarks(open, marks).length;
    closeDownTo(common);
    for (const mark of marks.slice(common)) {
      visitor.open(mark);
      open.push(mark);
    }
    visitor.text(text, index);
  }
  closeDownTo(0);
}

/** Text for a thematic break on platforms without rules. */
export const RULE = '———';

/** Prints plain text, for terminals and logs, and as the fallback that every platform accepts. */
export function printPlain(leaves: readonly Leaf[]): PrintedPart {
  const text = printPlainLeaves(leaves, { addresses: true });
  return { text, counted: text, entities: 0 };
}

interface PlainOptions {
  /** Whether link URLs follow their text in parentheses. */
  readonly addresses: boolean;
  /**
   * Text that the platform turns into a notification: the fallback has no code font, so code would
   * notify, too.
   */
  readonly pings?: DialectCapabilities['pings'] | undefined;
}

export function printPlainLeaves(leaves: readonly Leaf[], options: PlainOptions): string {
  let text = '';
  let before: Leaf | undefined;
  for (const leaf of leaves) {
    if (before !== undefined) {
      text += leaf.gap === 2 ? `\n${getEmptyLinePrefix(before, leaf)}\n` : '\n';
    }
    text += printPlainLeaf(leaf, options);
    before = leaf;
  }
  return text;
}

function printPlainLeaf(leaf: Leaf, options: PlainOptions): string {
  const { first, rest, hasMarker } = getLinePrefix(leaf);
  const body = listLeafLines(leaf, options);
  // Fixed-width lines must all start in the same column, so a bullet gets a separate line.
  const ownLine = hasMarker && isFixedWidth(leaf);
  const lines = ownLine ? ['', ...body] : body;
  return lines
    .map((line, index) => (index === 0 ? first : rest) + line)
    .map((line) => (line.trim() === '' ? line.trimEnd() : line))
    .join('\n');
}

type FixedWidthLeaf = CodeLeaf | GridLeaf | TableLeaf;

export function isFixedWidth(leaf: Leaf): leaf is FixedWidthLeaf {
  return leaf.kind !== 'text' && leaf.kind !== 'rule';
}

/**
 * The text of a fixed-width block; the transform keeps tables only for dialects with native tables.
 */
export function formatFixedWidth(leaf: FixedWidthLeaf): string {
  if (leaf.kind === 'code') return leaf.text;
  if (leaf.kind === 'grid') return [...leaf.header, ...leaf.rows].join('\n');
  return printPlainLeaves([{ ...leaf, within: [] }], { addresses: true });
}

function listLeafLines(leaf: Leaf, options: PlainOptions): string[] {
  switch (leaf.kind) {
    case 'text':
      return formatRuns(leaf.runs, options).split('\n');
    case 'code':
    case 'grid':
      return neutralizeTextMentions(formatFixedWidth(leaf), options.pings).split('\n');
    case 'table':
      return [leaf.header, ...leaf.rows].map((row) =>
        row.map((cell) => formatRuns(cell, options).replaceAll('\n', ' ')).join(' | '),
      );
    case 'rule':
      return [RULE];
  }
}

function formatRuns(all: readonly TextRun[], { addresses, pings }: PlainOptions): string {
  const runs = pings === undefined ? all : neutralizeMentions(all.map(removeCodeMark), pings);
  let text = '';
  let linked = '';
  for (const [index, run] of runs.entries()) {
    text += run.text;
    const link = findLink(run);
    linked = link === undefined ? '' : linked + run.text;
    if (link === undefined || findLink(runs[index + 1]) === link) continue;
    if (addresses) text += formatPlainUrl(linked, link.url, pings);
    linked = '';
  }
  return text;
}

/**
 * URLs stay unchanged, but a URL cannot contain an angle bracket, with which tokens of platforms
 * begin.
 */
function formatPlainUrl(text: string, url: string, pings: PlainOptions['pings']): string {
  const address = formatUrlSuffix(text, url);
  return address.includes('<') ? neutralizeTextMentions(address, pings) : address;
}

function removeCodeMark({ text, marks }: TextRun): TextRun {
  return { text, marks: marks.filter(({ type }) => type !== 'code') };
}
