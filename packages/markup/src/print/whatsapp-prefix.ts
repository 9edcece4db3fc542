import type { Container, Leaf, Marker } from '../document.ts';
import { WORD_JOINER } from './whatsapp-characters.ts';

/** Deeper lists are not indented further: a phone has no room for it. */
const MAX_INDENTED_LEVELS = 4;
/** In a proportional font four spaces are about as wide as WhatsApp's own bullet with its margin. */
const INDENT = '    ';
const QUOTE = '> ';

/** Where the lines of a leaf stand. */
export interface Position {
  /** Bullets of items that end up on a line of their own, before a quote. */
  readonly above: string;
  readonly quoted: boolean;
  /** Before the first line; ends with a bullet or number if `hasMarker`. */
  readonly first: string;
  /** Before the other lines. */
  readonly rest: string;
  readonly hasMarker: boolean;
}

/**
 * WhatsApp draws one level of lists, and only at a line's very start: `- ` and `1. ` there are its
 * own, nested and quoted items get a bullet character and an indent. A quote too must start its
 * line, so the bullet of an item that begins with one stands above it.
 */
export function positionOf(leaf: Leaf): Position {
  const quote = leaf.within.findIndex(({ type }) => type === 'quote');
  const begins = (index: number) => index >= leaf.fresh;
  const outer = itemPrefix(leaf.within.slice(0, Math.max(quote, 0)), begins, false);
  const inside = leaf.within.slice(quote + 1);
  const inner = itemPrefix(inside, (index) => begins(index + quote + 1), quote < 0);
  return { above: outer.hasMarker ? alone(outer.first) : '', quoted: quote >= 0, ...inner };
}

function itemPrefix(
  within: readonly Container[],
  begins: (index: number) => boolean,
  mayBeNative: boolean,
): { first: string; rest: string; hasMarker: boolean } {
  let first = '';
  let levels = 0;
  let hasMarker = false;
  for (const [index, container] of within.entries()) {
    if (container.type !== 'item') continue;
    if (begins(index)) first += markerText(container.marker, mayBeNative && levels === 0);
    else if (levels < MAX_INDENTED_LEVELS) first += INDENT;
    hasMarker ||= begins(index);
    levels += 1;
  }
  return { first, rest: INDENT.repeat(Math.min(levels, MAX_INDENTED_LEVELS)), hasMarker };
}

function markerText({ label, number, done }: Marker, isNative: boolean): string {
  if (label !== undefined) return `[${label}] `;
  const counter = number === undefined ? '' : `${number}. `;
  if (done !== undefined) return `${counter}${done ? '☑' : '☐'} `;
  if (counter !== '') return counter;
  return isNative ? '- ' : '• ';
}

/** A bullet with nothing behind it; WhatsApp draws its own only before text. */
export function alone(prefix: string): string {
  const marker = prefix.trimEnd();
  return marker.endsWith('-') ? `${marker.slice(0, -1)}•` : marker;
}

/**
 * A line of a quote. WhatsApp wants exactly one space and then something, so an indent is of
 * no-break spaces and an empty line has an invisible character.
 */
export function quoteLine(content: string): string {
  if (content.trim() === '') return QUOTE + WORD_JOINER;
  const text = content.trimStart();
  return QUOTE + '\u00a0'.repeat(content.length - text.length) + text;
}
