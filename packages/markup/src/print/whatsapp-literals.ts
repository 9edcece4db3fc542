import type { Span } from './whatsapp-addresses.ts';
import { characterAt, characterBefore, mayBeInside, mayBeOutside } from './whatsapp-characters.ts';
import { MARKER, type Stretch } from './whatsapp-marks.ts';

/**
 * Where the text of a line has a character that some client could read as the start of a mark: it
 * could open one and further on something could close it. Nothing else needs to be touched.
 */
export function accidentalMarks(
  text: string,
  marks: readonly Stretch[],
  addresses: readonly Span[],
): number[] {
  const places = literalMarkers(text, marks);
  const lastClose: Record<string, number> = { '*': 0, _: 0, '~': 0, '`': 0 };
  const note = (marker: string, at: number) => {
    lastClose[marker] = Math.max(at, lastClose[marker] ?? 0);
  };
  for (const { type, to } of marks) note(MARKER[type], to);
  for (const at of places) if (mayClose(text, at)) note(text[at] ?? '', at);
  // What is in an address may be seen as closing, but is never touched.
  const inAddress = within(addresses.map((span) => withoutTail(text, span)));
  return places.filter((at) => {
    if (inAddress(at)) return false;
    if (isInFence(text, at)) return true;
    return (lastClose[text[at] ?? ''] ?? 0) > at + 1 && mayOpen(text, at);
  });
}

/** Marker characters outside of code, in order. */
function literalMarkers(text: string, marks: readonly Stretch[]): number[] {
  const inCode = within(marks.filter(({ type }) => type === 'code'));
  const places: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    if (isMarker(text.charCodeAt(at)) && !inCode(at)) places.push(at);
  }
  return places;
}

function isMarker(code: number): boolean {
  // In this order: * _ ` ~
  return code === 0x2a || code === 0x5f || code === 0x60 || code === 0x7e;
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
