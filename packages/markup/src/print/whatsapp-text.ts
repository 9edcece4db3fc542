import type { RunMark, TextRun } from '../document.ts';
import { isSameMark } from '../transform/runs.ts';
import { walkRuns } from './lines.ts';

const BARS = '||';

/** A line without markers, and the formats it should have, outermost first. */
interface PlainLine {
  text: string;
  readonly stretches: MarkedStretch[];
}

/**
 * Inline content line by line, with markers where they work on every client: marks end with the
 * line and start again on the next, inside words they are omitted, and text that only looks like a
 * mark is kept from becoming one. A spoiler keeps its bars, because WhatsApp's own spoilers are
 * written that way.
 */
export function toWhatsAppLines(runs: readonly TextRun[]): string[] {
  return splitPlainLines(addBars(runs)).map(markLine);
}

/** Spoiler marks as text; the bars have the marks that both sides share. */
function addBars(runs: readonly TextRun[]): readonly TextRun[] {
  if (!runs.some(isSpoilerRun)) return runs;
  const out: TextRun[] = [];
  for (const [index, run] of runs.entries()) {
    const before = runs[index - 1];
    if (isSpoilerRun(run) !== isSpoilerRun(before)) {
      const marks = run.marks.filter((mark) =>
        before?.marks.some((other) => isSameMark(mark, other)),
      );
      out.push({ text: BARS, marks: marks.filter(isNotSpoiler) });
    }
    out.push({ ...run, marks: run.marks.filter(isNotSpoiler) });
  }
  return isSpoilerRun(runs.at(-1)) ? [...out, { text: BARS, marks: [] }] : out;
}

function isSpoilerRun(run: TextRun | undefined): boolean {
  return run !== undefined && !run.marks.every(isNotSpoiler);
}

function isNotSpoiler({ type }: RunMark): boolean {
  return type !== 'spoiler';
}

function splitPlainLines(runs: readonly TextRun[]): PlainLine[] {
  let line: PlainLine = { text: '', stretches: [] };
  const lines = [line];
  const open: { type: RunMark['type']; from: number; index: number }[] = [];
  const begin = (type: RunMark['type']) => {
    open.push({ type, from: line.text.length, index: line.stretches.length });
    // Reserves the position of the mark until its end is known, so that outer marks come first.
    if (isMarkerType(type)) line.stretches.push({ type, from: 0, to: 0 });
  };
  const end = () => {
    const mark = open.pop();
    if (mark === undefined || !isMarkerType(mark.type)) return;
    line.stretches[mark.index] = { type: mark.type, from: mark.from, to: line.text.length };
  };
  walkRuns(runs, {
    open: ({ type }) => begin(type),
    close: end,
    text: (text) => {
      for (const [index, piece] of text.split('\n').entries()) {
        if (index > 0) {
          const types = open.map(({ type }) => type);
          for (const _ of types) end();
          line = { text: '', stretches: [] };
          lines.push(line);
          types.forEach(begin);
        }
        line.text += piece;
      }
    },
  });
  return lines;
}

function isMarkerType(type: RunMark['type']): type is keyof typeof MARKER {
  return type in MARKER;
}

function markLine({ text, stretches }: PlainLine): string {
  if (stretches.length === 0 && !/[*_~`]/.test(text)) return text;
  const { marks, addresses } = settleStretches(text, stretches);
  const accidents = findAccidentalMarks(text, marks, addresses);
  // The sort is stable: where places are equal, inner marks close first and outer ones open first.
  const insertions = [
    ...marks.toReversed().map(({ type, to }) => ({ at: to, text: MARKER[type] })),
    ...marks.map(({ type, from }) => ({ at: from, text: MARKER[type] })),
    ...accidents.map((at) => ({ at, text: WORD_JOINER })),
  ].sort((a, b) => a.at - b.at);
  let out = '';
  let from = 0;
  for (const { at, text: inserted } of insertions) {
    out += text.slice(from, at) + inserted;
    from = at;
  }
  return out + text.slice(from);
}

const MARKER = { bold: '*', italic: '_', strike: '~', code: '`' } as const;

/** A format and its position in a line; offsets are in the line's text without markers. */
interface MarkedStretch {
  readonly type: keyof typeof MARKER;
  readonly from: number;
  readonly to: number;
}

/** The stretches that work on every client, trimmed at their ends. */
function settleStretches(
  text: string,
  stretches: readonly MarkedStretch[],
): { marks: MarkedStretch[]; addresses: LineSpan[] } {
  const codes = stretches
    .filter(({ type }) => type === 'code')
    .flatMap((code) => alignToWordEdges(text, code));
  const addresses = findAddresses(text, codes);
  const marks = stretches.flatMap((stretch) => {
    if (stretch.type === 'code') return [];
    return subtractSpans(stretch, addresses).flatMap((piece) => alignToWordEdges(text, piece));
  });
  const free = codes.filter((code) => subtractSpans(code, addresses)[0]?.to === code.to);
  const sorted = [...marks, ...free].sort((a, b) => a.from - b.from || b.to - a.to);
  return { marks: sorted, addresses };
}

/** The pieces of a stretch between spans; both ordered by position. */
function subtractSpans(stretch: MarkedStretch, spans: readonly LineSpan[]): MarkedStretch[] {
  const pieces: MarkedStretch[] = [];
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
 * Moves whitespace at the ends outside, and punctuation that separates a mark from a word boundary.
 */
function alignToWordEdges(text: string, { type, from, to }: MarkedStretch): MarkedStretch[] {
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

function isWhiteSpace(character: string): boolean {
  return character.trim() === '';
}

/**
 * The positions of characters in a line that some client could interpret as the start of a mark:
 * such a character could open one, and something after it could close it. Nothing else needs to be
 * changed.
 */
function findAccidentalMarks(
  text: string,
  marks: readonly MarkedStretch[],
  addresses: readonly LineSpan[],
): number[] {
  const places = findLiteralMarkers(text, marks);
  const lastClose: Record<string, number> = { '*': 0, _: 0, '~': 0, '`': 0 };
  const note = (marker: string, at: number) => {
    lastClose[marker] = Math.max(at, lastClose[marker] ?? 0);
  };
  for (const { type, to } of marks) note(MARKER[type], to);
  for (const at of places) if (canCloseAt(text, at)) note(text[at] ?? '', at);
  // Text in a URL may count as closing, but is never changed.
  const inAddress = createSpanCheck(addresses.map((span) => trimTail(text, span)));
  return places.filter((at) => {
    if (inAddress(at)) return false;
    if (isInFence(text, at)) return true;
    return (lastClose[text[at] ?? ''] ?? 0) > at + 1 && canOpenAt(text, at);
  });
}

/** Marker characters outside code, in order. */
function findLiteralMarkers(text: string, marks: readonly MarkedStretch[]): number[] {
  const inCode = createSpanCheck(marks.filter(({ type }) => type === 'code'));
  const places: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    if (isMarkerCode(text.charCodeAt(at)) && !inCode(at)) places.push(at);
  }
  return places;
}

function isMarkerCode(code: number): boolean {
  // In this order: * _ ` ~
  return code === 0x2a || code === 0x5f || code === 0x60 || code === 0x7e;
}

/** A URL without trailing brackets, full stops and markers. */
function trimTail(text: string, { from, to }: LineSpan): LineSpan {
  let end = to;
  while (end > from && !/[\p{L}\p{N}/]/u.test(getCharacterBefore(text, end))) end -= 1;
  return { from, to: end };
}

/** Checks increasing offsets for whether they are in one of these spans. */
function createSpanCheck(spans: readonly LineSpan[]): (at: number) => boolean {
  let next = 0;
  return (at) => {
    while ((spans[next]?.to ?? Number.POSITIVE_INFINITY) <= at) next += 1;
    return (spans[next]?.from ?? Number.POSITIVE_INFINITY) <= at;
  };
}

function canOpenAt(text: string, at: number): boolean {
  if (!canBeInside(getCharacterAt(text, at + 1))) return false;
  return text[at] === '`' || canBeOutside(getCharacterBefore(text, at));
}

function canCloseAt(text: string, at: number): boolean {
  if (!canBeInside(getCharacterBefore(text, at))) return false;
  return text[at] === '`' || canBeOutside(getCharacterAt(text, at + 1));
}

/** Three consecutive backticks open monospace anywhere, so they are separated. */
function isInFence(text: string, at: number): boolean {
  if (text[at] !== '`' || text[at - 1] !== '`') return false;
  return text[at + 1] === '`' || text[at - 2] === '`';
}

/** A part of a line that no mark may touch. */
interface LineSpan {
  readonly from: number;
  readonly to: number;
}

const ADDRESS = /https?:\/\/|www\.|(?<![a-z0-9.-])[a-z0-9.-]+\.[a-z]{2,}\//i;

/**
 * The URLs in a line, each up to the next whitespace or backtick, because a client may include
 * everything: with a scheme, with `www.`, or a bare host with a path, which clients also link.
 * @param codes code in the line, in order; URLs in it are code.
 */
function findAddresses(text: string, codes: readonly LineSpan[]): LineSpan[] {
  if (!text.includes('/') && !text.includes('www.')) return [];
  const spans: LineSpan[] = [];
  let code = 0;
  for (const { index, 0: word } of text.matchAll(/[^\s`]+/g)) {
    const start = word.search(ADDRESS);
    if (start < 0) continue;
    const from = index + start;
    while ((codes[code]?.to ?? Number.POSITIVE_INFINITY) <= from) code += 1;
    const inCode = (codes[code]?.from ?? Number.POSITIVE_INFINITY) <= from;
    if (!inCode) spans.push({ from, to: index + word.length });
  }
  return spans;
}

/**
 * Placed before a character that WhatsApp would take for a marker, since it has no escape character.
 * U+2060 and not the zero width space: it allows no line break, and no client counts it as white
 * space (Apple's libraries do count U+200B, which would make it a word's edge).
 */
export const WORD_JOINER = '\u2060';

const MARKERS = '*_~`';
const WHITE_SPACE = /\s/;
const EDGE = /[\p{P}$+<=>^|]/u;
const INVISIBLE = /\p{Cf}/u;
const WORD = /[\p{L}\p{N}\p{M}]/u;
/**
 * Emoji endings, and letters of scripts without spaces, next to which some clients see a word
 * boundary.
 */
const DOUBTFUL =
  /[\ufe0e\ufe0f\u20e3\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Whether a mark works on every client with this character outside next to it. */
function isSafeOutside(character: string): boolean {
  if (character === '' || WHITE_SPACE.test(character)) return true;
  return EDGE.test(character) && !MARKERS.includes(character);
}

/** Whether a mark works on every client with this character inside next to it. */
function isSafeInside(character: string): boolean {
  return isSafeInsideCode(character) && !MARKERS.includes(character);
}

/** Whether code works on every client with this character inside; markers have no meaning in it. */
function isSafeInsideCode(character: string): boolean {
  return canBeInside(character) && !INVISIBLE.test(character);
}

/** Whether some client may see a mark with this character outside next to it. */
function canBeOutside(character: string): boolean {
  if (isAsciiLetter(character)) return false;
  if (character === WORD_JOINER) return false;
  return !WORD.test(character) || DOUBTFUL.test(character);
}

/** Whether some client may see a mark with this character inside next to it. */
function canBeInside(character: string): boolean {
  if (isAsciiLetter(character)) return true;
  return character !== '' && character !== WORD_JOINER && !WHITE_SPACE.test(character);
}

/** A fast answer for most characters, without Unicode's tables. */
function isAsciiLetter(character: string): boolean {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
}

function isBetweenWords(character: string): boolean {
  return !WORD.test(character);
}

/** The whole character that starts at this offset, empty at the end. */
function getCharacterAt(text: string, at: number): string {
  const first = text[at] ?? '';
  return isSurrogateUnit(first) ? text.slice(at, at + 2) : first;
}

/** The whole character that ends before this offset, empty at the start. */
function getCharacterBefore(text: string, at: number): string {
  const last = text[at - 1] ?? '';
  return isSurrogateUnit(last) ? text.slice(Math.max(0, at - 2), at) : last;
}

/** Text from the transform is well-formed, so surrogates come in pairs. */
function isSurrogateUnit(character: string): boolean {
  return character >= '\ud800' && character <= '\udfff';
}
