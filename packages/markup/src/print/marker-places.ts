import {
  canBeInsideMark,
  canBeOutsideMark,
  getCharacterAt,
  getCharacterBefore,
  isBetweenWords,
  isSafeInside,
  isSafeInsideCode,
  isSafeOutside,
  isWhiteSpace,
} from './word-edges.ts';

/** The characters on both sides of each format. */
export const MARKER = { bold: '*', italic: '_', strike: '~', code: '`' } as const;

/** A format and its position in a line; offsets are in the line's text without markers. */
export interface FormatSpan {
  readonly type: keyof typeof MARKER;
  readonly from: number;
  readonly to: number;
}

/**
 * The ranges that every client formats, trimmed at their ends, and the URLs outside links.
 * @param links the text of each link, in order.
 */
export function resolveFormatSpans(
  text: string,
  stretches: readonly FormatSpan[],
  links: readonly Span[],
): { marks: FormatSpan[]; addresses: Span[] } {
  const codes = stretches
    .filter(({ type }) => type === 'code')
    .flatMap((code) => alignToWordEdges(text, code));
  const addresses = findUrls(text, codes, links);
  const marks = stretches.flatMap((stretch) => {
    if (stretch.type === 'code') return [];
    return subtractSpans(stretch, addresses)
      .flatMap((piece) => alignToWordEdges(text, piece))
      .flatMap((piece) => trimAtLinks(text, piece, links));
  });
  const free = codes.filter((code) => subtractSpans(code, addresses)[0]?.to === code.to);
  const sorted = [...marks, ...free].sort((a, b) => a.from - b.from || b.to - a.to);
  return { marks: sorted, addresses };
}

/** Link text has no marks, so a mark that begins or ends in it ends before the link. */
function trimAtLinks(text: string, stretch: FormatSpan, links: readonly Span[]): FormatSpan[] {
  const isTorn =
    ({ from, to }: FormatSpan) =>
    (link: Span) =>
      (link.from < from && from < link.to) || (link.from < to && to < link.to);
  const torn = links.filter(isTorn(stretch));
  if (torn.length === 0) return [stretch];
  return subtractSpans(stretch, torn)
    .flatMap((piece) => alignToWordEdges(text, piece))
    .filter((piece) => !links.some(isTorn(piece)));
}

/** The pieces of a range between spans; both ordered by position. */
function subtractSpans(stretch: FormatSpan, spans: readonly Span[]): FormatSpan[] {
  const pieces: FormatSpan[] = [];
  let from = stretch.from;
  for (const span of spans) {
    if (span.to <= from || span.from >= stretch.to) continue;
    if (span.from > from) pieces.push({ ...stretch, from, to: span.from });
    from = span.to;
  }
  if (from < stretch.to) pieces.push({ ...stretch, from });
  return pieces;
}

/**
 * Moves whitespace at the ends outside the mark, and punctuation that separates the mark from a
 * word boundary.
 */
function alignToWordEdges(text: string, { type, from, to }: FormatSpan): FormatSpan[] {
  const isInside = type === 'code' ? isSafeInsideCode : isSafeInside;
  const mayLeave = type === 'code' ? isWhiteSpace : isBetweenWords;
  let start = from;
  for (let next = getCharacterAt(text, start); start < to; next = getCharacterAt(text, start)) {
    if (isInside(next) && isSafeOutside(getCharacterBefore(text, start))) break;
    if (!mayLeave(next)) return [];
    start += next.length;
  }
  let end = to;
  for (
    let last = getCharacterBefore(text, end);
    end > start;
    last = getCharacterBefore(text, end)
  ) {
    if (isInside(last) && isSafeOutside(getCharacterAt(text, end))) break;
    if (!mayLeave(last)) return [];
    end -= last.length;
  }
  // A client may ignore a mark that contains its own marker.
  if (end <= start || text.slice(start, end).includes(MARKER[type])) return [];
  return [{ type, from: start, to: end }];
}

/**
 * The positions of characters in a line that some client could parse as the start of a mark: such a
 * character could open a mark, and a later one could close it. All other characters can stay
 * unchanged.
 */
export function findAccidentalMarks(
  text: string,
  marks: readonly FormatSpan[],
  addresses: readonly Span[],
): number[] {
  const places = findLiteralMarkers(text, marks);
  const lastClose: Record<string, number> = { '*': 0, _: 0, '~': 0, '`': 0 };
  const note = (marker: string, at: number) => {
    lastClose[marker] = Math.max(at, lastClose[marker] ?? 0);
  };
  for (const { type, to } of marks) note(MARKER[type], to);
  for (const at of places) if (canCloseMarker(text, at)) note(text[at] ?? '', at);
  // Text in a URL may count as closing, but the URL is never changed.
  const inAddress = createSpanChecker(addresses.map((span) => trimUrlTail(text, span)));
  return places.filter((at) => {
    if (inAddress(at)) return false;
    if (isInFence(text, at)) return true;
    return (lastClose[text[at] ?? ''] ?? 0) > at + 1 && canOpenMarker(text, at);
  });
}

/** Marker characters outside code, in order. */
export function findLiteralMarkers(text: string, marks: readonly FormatSpan[]): number[] {
  const inCode = createSpanChecker(marks.filter(({ type }) => type === 'code'));
  const places: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    if (isMarkerCode(text.charCodeAt(at)) && !inCode(at)) places.push(at);
  }
  return places;
}

function isMarkerCode(code: number): boolean {
  // The order is: * _ ` ~
  return code === 0x2a || code === 0x5f || code === 0x60 || code === 0x7e;
}

/** A URL without trailing brackets, full stops and markers. */
function trimUrlTail(text: string, { from, to }: Span): Span {
  let end = to;
  while (end > from && !/[\p{L}\p{N}/]/u.test(getCharacterBefore(text, end))) end -= 1;
  return { from, to: end };
}

/** Checks increasing offsets for whether they are in one of these spans. */
export function createSpanChecker(spans: readonly Span[]): (at: number) => boolean {
  let next = 0;
  return (at) => {
    while ((spans[next]?.to ?? Number.POSITIVE_INFINITY) <= at) next += 1;
    return (spans[next]?.from ?? Number.POSITIVE_INFINITY) <= at;
  };
}

function canOpenMarker(text: string, at: number): boolean {
  if (!canBeInsideMark(getCharacterAt(text, at + 1))) return false;
  return text[at] === '`' || canBeOutsideMark(getCharacterBefore(text, at));
}

function canCloseMarker(text: string, at: number): boolean {
  if (!canBeInsideMark(getCharacterBefore(text, at))) return false;
  return text[at] === '`' || canBeOutsideMark(getCharacterAt(text, at + 1));
}

/** Three consecutive backticks open monospace text at any position, so they are separated. */
function isInFence(text: string, at: number): boolean {
  if (text[at] !== '`' || text[at - 1] !== '`') return false;
  return text[at + 1] === '`' || text[at - 2] === '`';
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

const ADDRESS = /https?:\/\/|www\.|(?<![a-z0-9.-])[a-z0-9.-]+\.[a-z]{2,}\//i;

/**
 * The URLs in a line, each up to the next whitespace or backtick, because a client may include
 * every other character: with a scheme, with `www.`, or a bare host with a path, which clients also
 * link.
 * @param codes code in the line, in order; URLs in it are code.
 * @param links the text of each link, in order; URLs in it belong to the link.
 */
function findUrls(text: string, codes: readonly Span[], links: readonly Span[]): Span[] {
  if (!text.includes('/') && !text.includes('www.')) return [];
  const spans: Span[] = [];
  let code = 0;
  let link = 0;
  for (const { index, 0: word } of text.matchAll(/[^\s`]+/g)) {
    const start = word.search(ADDRESS);
    if (start < 0) continue;
    const from = index + start;
    while ((codes[code]?.to ?? Number.POSITIVE_INFINITY) <= from) code += 1;
    while ((links[link]?.to ?? Number.POSITIVE_INFINITY) <= from) link += 1;
    const inCode = (codes[code]?.from ?? Number.POSITIVE_INFINITY) <= from;
    const linkStart = links[link]?.from ?? Number.POSITIVE_INFINITY;
    if (inCode || linkStart <= from) continue;
    spans.push({ from, to: Math.min(index + word.length, linkStart) });
  }
  return spans;
}
