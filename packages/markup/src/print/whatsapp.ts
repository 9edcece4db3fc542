import type { Leaf, LeafContainer } from '../document.ts';
import { formatFixed, formatMarker, isFixedWidth, type PrintedPart, RULE } from './lines.ts';
import { toWhatsAppLines, WORD_JOINER } from './whatsapp-text.ts';

const FENCE = '```';

/**
 * Prints WhatsApp's text formatting. Rules observed here: marks only at word boundaries and within
 * a line, one quote level, one native list level, monospace without a language, no escape
 * character.
 */
export function printWhatsApp(leaves: readonly Leaf[]): PrintedPart {
  let text = '';
  let before: Leaf | undefined;
  for (const leaf of leaves) {
    if (before !== undefined) text += printGap(before, leaf);
    text += printWhatsAppLeaf(leaf);
    before = leaf;
  }
  return { text, counted: text, entities: 0 };
}

/** The empty line between two leaves of one quote belongs to the quote. */
function printGap(before: Leaf, leaf: Leaf): string {
  if (leaf.gap === 1) return '\n';
  const quote = leaf.within.findIndex(({ type }) => type === 'quote');
  const isSame = quote >= 0 && before.within[quote] === leaf.within[quote];
  return isSame ? `\n${formatQuoteLine('')}\n` : '\n\n';
}

function printWhatsAppLeaf(leaf: Leaf): string {
  const position = getLeafPosition(leaf);
  const lines = isFixedWidth(leaf)
    ? toMonospaceLines(position, formatFixed(leaf))
    : formatTextLines(position, leaf.kind === 'rule' ? [RULE] : toWhatsAppLines(leaf.runs));
  const shown = position.quoted ? lines.map(formatQuoteLine) : lines;
  return (position.above === '' ? shown : [position.above, ...shown]).join('\n');
}

/** A bullet gets a separate line, because fixed-width lines must all start in the same column. */
function toMonospaceLines({ quoted, first, hasMarker }: LeafPosition, text: string): string[] {
  // In a quote each line is monospace separately, because clients disagree about one that spans
  // quoted lines.
  const lines = quoted ? text.split('\n').map(toMonospace) : [toMonospace(text)];
  return hasMarker ? [trimMarker(first), ...lines] : lines;
}

/** No line breaks inside the fences, because WhatsApp would show them as empty lines. */
function toMonospace(text: string): string {
  if (text.trim() === '') return text;
  const start = text.startsWith('`') ? WORD_JOINER : '';
  const end = text.endsWith('`') ? WORD_JOINER : '';
  const content = text.includes(FENCE) ? text.replaceAll(/`(?=`)/g, `\`${WORD_JOINER}`) : text;
  return FENCE + start + content + end + FENCE;
}

function formatTextLines(
  { first, rest, hasMarker }: LeafPosition,
  lines: readonly string[],
): string[] {
  return lines.map((line, index) => {
    if (index > 0) return line.trim() === '' ? '' : rest + makeInert(line, rest);
    if (line.trim() === '') return trimMarker(first);
    return hasMarker ? first + line.trimStart() : first + makeInert(line, first);
  });
}

/** Puts an invisible character before a line that looks like a quote or an item but is neither. */
function makeInert(line: string, prefix: string): string {
  const isBlock = prefix === '' && /^(?:[>*-]|\d{1,2}\.)[^\S\n]/.test(line);
  return isBlock ? WORD_JOINER + line : line;
}

/** Deeper lists are not indented further, because a phone has no space for it. */
const MAX_INDENTED_LEVELS = 4;
/**
 * In a proportional font four spaces are about as wide as WhatsApp's own bullet with its margin.
 */
const INDENT = '    ';
const QUOTE = '> ';

interface LeafPosition {
  /** Bullets of items that need a separate line, before a quote. */
  readonly above: string;
  readonly quoted: boolean;
  /** Precedes the first line; ends with a bullet or number if `hasMarker`. */
  readonly first: string;
  readonly rest: string;
  readonly hasMarker: boolean;
}

/**
 * WhatsApp renders one level of lists, and only at the very start of a line: `- ` and `1. ` there
 * are native, while nested and quoted items get a bullet character and an indent. A quote must also
 * start its line, so the bullet of an item that begins with one is above it.
 */
function getLeafPosition(leaf: Leaf): LeafPosition {
  const quote = leaf.within.findIndex(({ type }) => type === 'quote');
  const begins = (index: number) => index >= leaf.fresh;
  const outer = getItemPrefix(leaf.within.slice(0, Math.max(quote, 0)), begins, false);
  const inside = leaf.within.slice(quote + 1);
  const inner = getItemPrefix(inside, (index) => begins(index + quote + 1), quote < 0);
  return { above: outer.hasMarker ? trimMarker(outer.first) : '', quoted: quote >= 0, ...inner };
}

function getItemPrefix(
  within: readonly LeafContainer[],
  begins: (index: number) => boolean,
  mayBeNative: boolean,
): { first: string; rest: string; hasMarker: boolean } {
  let first = '';
  let levels = 0;
  let hasMarker = false;
  for (const [index, container] of within.entries()) {
    if (container.type !== 'item') continue;
    if (begins(index))
      first += formatMarker(container.marker, mayBeNative && levels === 0 ? '-' : '•');
    else if (levels < MAX_INDENTED_LEVELS) first += INDENT;
    hasMarker ||= begins(index);
    levels += 1;
  }
  return { first, rest: INDENT.repeat(Math.min(levels, MAX_INDENTED_LEVELS)), hasMarker };
}

/** A bullet with nothing after it; WhatsApp renders its own only before text. */
function trimMarker(prefix: string): string {
  const marker = prefix.trimEnd();
  return marker.endsWith('-') ? `${marker.slice(0, -1)}•` : marker;
}

/**
 * A line in a quote. WhatsApp requires exactly one space and then something, so an indent consists
 * of no-break spaces and an empty line has an invisible character.
 */
function formatQuoteLine(content: string): string {
  if (content.trim() === '') return QUOTE + WORD_JOINER;
  const text = content.trimStart();
  return QUOTE + '\u00a0'.repeat(content.length - text.length) + text;
}
