import type { ItemMarker, Leaf, LeafContainer, TextRun } from '../document.ts';
import { WORD_JOINER } from './invisible.ts';
import { formatFixedWidth, formatMarker, isFixedWidth, type PrintedPart, RULE } from './lines.ts';
import { guardMarkers, type MarkerSyntax, printMarkedLines } from './marker-text.ts';

/**
 * A line-based dialect: marks are single characters, quotes and items begin a line, fixed-width
 * text is between three backticks, and blocks do not nest.
 */
export interface MarkerDialect extends MarkerSyntax {
  /** Prepares inline content, for example by replacing links that the dialect cannot show. */
  readonly prepare?: (runs: readonly TextRun[]) => readonly TextRun[];
  /** The bullet of an item at the start of a line; all other bullets are written as `•`. */
  readonly bullet: '-' | '•';
  /** Matches a written line that the platform would parse as a quote or an item. */
  readonly blockStart: RegExp;
  /** Writes fixed-width text. */
  readonly monospace: (text: string) => string;
  /** Whether fixed-width text works in a quote, line by line; otherwise it interrupts the quote. */
  readonly quotesMonospace: boolean;
}

/** Prints leaves in a line-based dialect. */
export function printMarkerBlocks(leaves: readonly Leaf[], dialect: MarkerDialect): PrintedPart {
  let text = '';
  let before: Leaf | undefined;
  for (const leaf of leaves) {
    if (before !== undefined) text += printGap(before, leaf, dialect);
    text += printLeaf(leaf, dialect);
    before = leaf;
  }
  return { text, counted: text, entities: 0 };
}

/** The empty line between two leaves of one quote belongs to the quote. */
function printGap(before: Leaf, leaf: Leaf, dialect: MarkerDialect): string {
  if (leaf.gap === 1) return '\n';
  const quote = findQuote(leaf);
  const isSame = quote >= 0 && before.within[quote] === leaf.within[quote];
  const isQuoted = isSame && [before, leaf].every((each) => isPrintedAsQuote(each, dialect));
  return isQuoted ? `\n${quoteLine('')}\n` : '\n\n';
}

function findQuote({ within }: Leaf): number {
  return within.findIndex(({ type }) => type === 'quote');
}

function isPrintedAsQuote(leaf: Leaf, { quotesMonospace }: MarkerDialect): boolean {
  return findQuote(leaf) >= 0 && (quotesMonospace || !isFixedWidth(leaf));
}

function printLeaf(leaf: Leaf, dialect: MarkerDialect): string {
  const quoted = isPrintedAsQuote(leaf, dialect);
  const position = { ...getLinePosition(leaf, dialect), quoted };
  const lines = isFixedWidth(leaf)
    ? printMonospaceLines(position, formatFixedWidth(leaf), dialect)
    : printTextLines(
        position,
        leaf.kind === 'rule' ? [RULE] : writeLines(leaf.runs, dialect),
        dialect,
      );
  const shown = quoted ? lines.map(quoteLine) : lines;
  return (position.above === '' ? shown : [position.above, ...shown]).join('\n');
}

function writeLines(runs: readonly TextRun[], dialect: MarkerDialect): string[] {
  return printMarkedLines(dialect.prepare?.(runs) ?? runs, dialect);
}

/** A bullet gets a separate line, because fixed-width lines must all start in the same column. */
function printMonospaceLines(
  { quoted, first, hasMarker }: LinePosition,
  text: string,
  { monospace }: MarkerDialect,
): string[] {
  // In a quote each line is monospace separately, because clients disagree about monospace text
  // that spans quoted lines.
  const lines = quoted ? text.split('\n').map(monospace) : [monospace(text)];
  return hasMarker ? [formatStandaloneMarker(first), ...lines] : lines;
}

function printTextLines(
  { first, rest, hasMarker }: LinePosition,
  lines: readonly string[],
  { blockStart }: MarkerDialect,
): string[] {
  // An invisible character precedes a line that looks like a quote or an item but is neither.
  const withPrefix = (prefix: string, line: string) =>
    prefix + (blockStart.test(prefix + line) ? WORD_JOINER : '') + line;
  return lines.map((line, index) => {
    if (index > 0) return line.trim() === '' ? '' : withPrefix(rest, line);
    if (line.trim() === '') return formatStandaloneMarker(first);
    return hasMarker ? first + line.trimStart() : withPrefix(first, line);
  });
}

/** Deeper lists are not indented further, because a phone screen is too narrow. */
const MAX_INDENTED_LEVELS = 4;
/** In a proportional font four spaces are about as wide as a bullet with its margin. */
const INDENT = '    ';
const QUOTE = '> ';

interface LinePosition {
  /** Bullets of items that need a separate line, before a quote. */
  readonly above: string;
  readonly quoted: boolean;
  /** The prefix of the first line; it ends with a bullet or number if `hasMarker` is set. */
  readonly first: string;
  readonly rest: string;
  readonly hasMarker: boolean;
}

/**
 * The platform shows a list item only at the very start of a line, if it has lists: such an item
 * has the dialect's bullet, while nested and quoted items get a bullet character and an indent. A
 * quote must also start its line, so when an item begins with a quote, its bullet is on the line
 * above.
 */
function getLinePosition(leaf: Leaf, dialect: MarkerDialect): Omit<LinePosition, 'quoted'> {
  const quote = findQuote(leaf);
  const begins = (index: number) => index >= leaf.fresh;
  const write = (marker: ItemMarker, isNative: boolean) =>
    marker.label === undefined
      ? formatMarker(marker, isNative ? dialect.bullet : '•')
      : dialect.escape(guardMarkers(formatMarker(marker), dialect), 'text', '');
  const outer = buildItemPrefix(leaf.within.slice(0, Math.max(quote, 0)), begins, (marker) =>
    write(marker, false),
  );
  const inner = buildItemPrefix(
    leaf.within.slice(quote + 1),
    (index) => begins(index + quote + 1),
    (marker, level) => write(marker, quote < 0 && level === 0),
  );
  return { above: outer.hasMarker ? formatStandaloneMarker(outer.first) : '', ...inner };
}

function buildItemPrefix(
  within: readonly LeafContainer[],
  begins: (index: number) => boolean,
  write: (marker: ItemMarker, level: number) => string,
): { first: string; rest: string; hasMarker: boolean } {
  let first = '';
  let levels = 0;
  let hasMarker = false;
  for (const [index, container] of within.entries()) {
    if (container.type !== 'item') continue;
    if (begins(index)) first += write(container.marker, levels);
    else if (levels < MAX_INDENTED_LEVELS) first += INDENT;
    hasMarker ||= begins(index);
    levels += 1;
  }
  return { first, rest: INDENT.repeat(Math.min(levels, MAX_INDENTED_LEVELS)), hasMarker };
}

/** A bullet on a line of its own; platforms show their own bullets only before text. */
function formatStandaloneMarker(prefix: string): string {
  const marker = prefix.trimEnd();
  return marker.endsWith('-') ? `${marker.slice(0, -1)}•` : marker;
}

/**
 * WhatsApp requires exactly one space and then a visible character, so an indent consists of
 * no-break spaces and an empty line has an invisible character.
 */
function quoteLine(content: string): string {
  if (content.trim() === '') return QUOTE + WORD_JOINER;
  const text = content.trimStart();
  return QUOTE + '\u00a0'.repeat(content.length - text.length) + text;
}
