import type { Leaf } from '../document.ts';
import { plainText, RULE } from './plain.ts';
import type { Printed } from './printed.ts';
import { WORD_JOINER } from './whatsapp-characters.ts';
import { alone, type Position, positionOf, quoteLine } from './whatsapp-prefix.ts';
import { whatsAppLines } from './whatsapp-text.ts';

const FENCE = '```';

/**
 * Prints WhatsApp's text formatting. Kept here: marks only at word edges and within a line, one
 * quote level, one list level of its own, monospace without a language, no escape character.
 */
export function printWhatsApp(leaves: readonly Leaf[]): Printed {
  let text = '';
  let before: Leaf | undefined;
  for (const leaf of leaves) {
    if (before !== undefined) text += gapBetween(before, leaf);
    text += printLeaf(leaf);
    before = leaf;
  }
  return { text, counted: text, entities: 0 };
}

/** The empty line between two leaves of one quote belongs to the quote. */
function gapBetween(before: Leaf, leaf: Leaf): string {
  if (leaf.gap === 1) return '\n';
  const quote = leaf.within.findIndex(({ type }) => type === 'quote');
  const isSame = quote >= 0 && before.within[quote] === leaf.within[quote];
  return isSame ? `\n${quoteLine('')}\n` : '\n\n';
}

function printLeaf(leaf: Leaf): string {
  const position = positionOf(leaf);
  const lines = isMonospace(leaf)
    ? monospaceLines(position, monospaceText(leaf))
    : textLines(position, leaf.kind === 'rule' ? [RULE] : whatsAppLines(leaf.runs));
  const shown = position.quoted ? lines.map(quoteLine) : lines;
  return (position.above === '' ? shown : [position.above, ...shown]).join('\n');
}

type MonospaceLeaf = Exclude<Leaf, { kind: 'text' | 'rule' }>;

function isMonospace(leaf: Leaf): leaf is MonospaceLeaf {
  return leaf.kind !== 'text' && leaf.kind !== 'rule';
}

function monospaceText(leaf: MonospaceLeaf): string {
  switch (leaf.kind) {
    case 'code':
      return leaf.text;
    case 'grid':
      return [...leaf.header, ...leaf.rows].join('\n');
    case 'table':
      // The transform lays tables out; should one be left, its cells are still shown.
      return plainText([{ ...leaf, within: [] }], { addresses: true });
  }
}

/** A bullet has a line of its own, because fixed-width lines must all start in the same column. */
function monospaceLines({ quoted, first, hasMarker }: Position, text: string): string[] {
  // In a quote each line is monospace by itself: clients disagree on one that spans quoted lines.
  const lines = quoted ? text.split('\n').map(monospace) : [monospace(text)];
  return hasMarker ? [alone(first), ...lines] : lines;
}

/** No line ends inside the fences: WhatsApp would show them as empty lines. */
function monospace(text: string): string {
  if (text.trim() === '') return text;
  const start = text.startsWith('`') ? WORD_JOINER : '';
  const end = text.endsWith('`') ? WORD_JOINER : '';
  const content = text.includes(FENCE) ? text.replaceAll(/`(?=`)/g, `\`${WORD_JOINER}`) : text;
  return FENCE + start + content + end + FENCE;
}

function textLines({ first, rest, hasMarker }: Position, lines: readonly string[]): string[] {
  return lines.map((line, index) => {
    if (index > 0) return line.trim() === '' ? '' : rest + inert(line, rest);
    if (line.trim() === '') return alone(first);
    return hasMarker ? first + line.trimStart() : first + inert(line, first);
  });
}

/** A line that begins like a quote or an item but is none gets an invisible character in front. */
function inert(line: string, prefix: string): string {
  const isBlock = prefix === '' && /^(?:[>*-]|\d{1,2}\.)[^\S\n]/.test(line);
  return isBlock ? WORD_JOINER + line : line;
}
