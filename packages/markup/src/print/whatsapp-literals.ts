import type { Span } from './whatsapp-addresses.ts';
import { characterAt, characterBefore, mayBeInside, mayBeOutside } from './whatsapp-characters.ts';
import { MARKER, type Stretch } from './whatsapp-marks.ts';

const MARKERS = /[*_~`]/g;

/**
 * Where the text of a line has a character that some client could read as the start of a mark: it
 * could open one and further on something could close it. Nothing else needs to be touched.
 */
export function accidentalMarks(
  text: string,
  marks: readonly Stretch[],
  addresses: readonly Span[],
): number[] {
  const places = literalMarkers(text, marks, addresses);
  const lastClose = new Map<string, number>();
  const note = (marker: string, at: number) =>
    lastClose.set(marker, Math.max(at, lastClose.get(marker) ?? 0));
  for (const { type, to } of marks) note(MARKER[type], to);
  for (const { at } of places) if (mayClose(text, at)) note(characterAt(text, at), at);
  return places
    .filter(({ at, inAddress }) => {
      if (inAddress) return false;
      const isClosed = (lastClose.get(characterAt(text, at)) ?? 0) > at + 1;
      return isInFence(text, at) || (isClosed && mayOpen(text, at));
    })
    .map(({ at }) => at);
}

interface Literal {
  readonly at: number;
  readonly inAddress: boolean;
}

/** Marker characters outside of code. Those in addresses may be seen as closing, but are never touched. */
function literalMarkers(
  text: string,
  marks: readonly Stretch[],
  addresses: readonly Span[],
): Literal[] {
  const codes = marks.filter(({ type }) => type === 'code');
  const inCode = within(codes);
  const inAddress = within(addresses.map((span) => withoutTail(text, span)));
  const places: Literal[] = [];
  for (const { index } of text.matchAll(MARKERS)) {
    if (!inCode(index)) places.push({ at: index, inAddress: inAddress(index) });
  }
  return places;
}

/** An address without the brackets, full stops and markers behind it. */
function withoutTail(text: string, { from, to }: Span): Span {
  let end = to;
  while (end > from && !/[\p{L}\p{N}/]/u.test(characterBefore(text, end))) end -= 1;
  return { from, to: end };
}

/** Tells for growing offsets whether they lie in one of these spans. */
function within(spans: readonly Span[]): (at: number) => boolean {
  let next = 0;
  return (at) => {
    while ((spans[next]?.to ?? Number.POSITIVE_INFINITY) <= at) next += 1;
    return (spans[next]?.from ?? Number.POSITIVE_INFINITY) <= at;
  };
}

function mayOpen(text: string, at: number): boolean {
  if (!mayBeInside(characterAt(text, at + 1))) return false;
  return text[at] === '`' || mayBeOutside(characterBefore(text, at));
}

function mayClose(text: string, at: number): boolean {
  if (!mayBeInside(characterBefore(text, at))) return false;
  return text[at] === '`' || mayBeOutside(characterAt(text, at + 1));
}

/** Three backticks open monospace wherever they stand, so they may not stand together. */
function isInFence(text: string, at: number): boolean {
  if (text[at] !== '`' || text[at - 1] !== '`') return false;
  return text[at + 1] === '`' || text[at - 2] === '`';
}
