type LineKind =
  | { readonly kind: 'paragraph' | 'quote' | 'bullet' }
  | { readonly kind: 'number'; readonly number: string };

/** A line: the offset of its start and the offset of its content (after the marker `>`, `-` or `1.`). */
export type Line = LineKind & {
  readonly start: number;
  readonly from: number;
  readonly to: number;
};

/** The lines, ranges and marks found in a text under one reading. */
export interface ParsedMarks {
  readonly lines: readonly Line[];
  readonly opaque: readonly OpaqueRange[];
  readonly pairs: readonly MarkerPair[];
  /** The position of an unmatched triple backtick. */
  readonly unpaired: number | undefined;
}

/** The rules that differ between platforms whose marks are single characters. */
export interface LineRules {
  /** Reads the quote mark, bullet or number at the start of a line. */
  readonly readStart: (line: string, reading: ReadingMode) => LineStart;
  /** The text of each link that is written as a token, in order. */
  readonly links?: readonly LinkSpan[];
}

export interface LinkSpan {
  readonly type: 'link';
  readonly from: number;
  readonly to: number;
  readonly url: string;
  /** Whether the token contains only the URL, in which no platform looks for marks. */
  readonly isBare: boolean;
}

/** The kind of a line and the length of its line marker. */
export type LineStart = LineKind & { readonly length: number };

/** Finds lines, then ranges that contain no marks, then marks. */
export function parseMarkedLines(
  text: string,
  reading: ReadingMode,
  rules: LineRules,
): ParsedMarks {
  const taken = new Uint8Array(text.length);
  const { found, unpaired } = findMonospace(text);
  for (const { from, to } of found) taken.fill(1, from, to);
  const { links = [] } = rules;
  for (const { isBare, from, to } of links) if (isBare) taken.fill(1, from, to);
  const lines = splitLines(text, taken).map(([start, end]): Line => {
    const { length, ...kind } = rules.readStart(text.slice(start, end), reading);
    return { ...kind, start, from: start + length, to: end };
  });
  const opaque: OpaqueRange[] = [...found];
  const pairs: MarkerPair[] = [];
  for (const { from, to } of lines) {
    const content = text.slice(from, to);
    for (const found of findUrls(content, from, reading)) {
      const url = trimBeforeLinks(found, links);
      if (url === undefined || taken[url.from] !== 0) continue;
      opaque.push(url);
      taken.fill(1, url.from, url.to);
    }
    for (const code of findCode(content, from, taken, reading)) {
      opaque.push(code);
      taken.fill(1, code.from, code.to);
    }
    pairs.push(...findMarks(content, from, taken, reading));
  }
  return { lines, opaque, pairs, unpaired };
}

/** Returns the start and end of each line; line ends inside monospace do not split lines. */
function splitLines(text: string, taken: Uint8Array): [number, number][] {
  const lines: [number, number][] = [];
  let start = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    if (taken[at] !== 0) continue;
    lines.push([start, at]);
    start = at + 1;
  }
  return [...lines, [start, text.length]];
}

/** A range that is not searched for marks. */
export interface OpaqueRange {
  readonly type: 'monospace' | 'code' | 'url';
  /** Offsets in the whole text, including the markers. */
  readonly from: number;
  readonly to: number;
}

const FENCE = '```';
const SCHEME_URL = /\b(?:https?:\/\/|www\.)[^\s`]+/gi;

/** Clients also link bare hosts, whose paths may contain marker characters. */
const BARE_URL = /\b(?:[a-z0-9-]+\.)+[a-z]{2,}\/[^\s`]*/gi;

/**
 * Finds triple-backtick ranges, which may span lines and need visible content but no word boundary.
 */
function findMonospace(text: string): { found: OpaqueRange[]; unpaired: number | undefined } {
  const found: OpaqueRange[] = [];
  let from = text.indexOf(FENCE);
  while (from >= 0) {
    let end = text.indexOf(FENCE, from + FENCE.length);
    while (end >= 0 && text.slice(from + FENCE.length, end).trim() === '') {
      end = text.indexOf(FENCE, end + 1);
    }
    if (end < 0) return { found, unpaired: from };
    found.push({ type: 'monospace', from, to: end + FENCE.length });
    from = text.indexOf(FENCE, end + FENCE.length);
  }
  return { found, unpaired: undefined };
}

/**
 * Finds URLs in one line. The strict reading extends a URL to the next white space, because a
 * client may include everything. A loose reading drops trailing punctuation and markers, because a
 * client may exclude them.
 */
function findUrls(line: string, start: number, reading: ReadingMode): OpaqueRange[] {
  const found: OpaqueRange[] = [];
  for (const pattern of [SCHEME_URL, BARE_URL]) {
    for (const match of line.matchAll(pattern)) {
      const address = reading === 'strict' ? match[0] : match[0].replace(/[^\p{L}\p{N}/]+$/u, '');
      const from = start + match.index;
      if (found.every((other) => from >= other.to || from < other.from)) {
        found.push({ type: 'url', from, to: from + address.length });
      }
    }
  }
  return found.sort((a, b) => a.from - b.from);
}

/** Returns the part of a URL before the link that ends it. */
function trimBeforeLinks(url: OpaqueRange, links: readonly LinkSpan[]): OpaqueRange | undefined {
  const link = links.find(({ from, to }) => from < url.to && url.from < to);
  if (link === undefined) return url;
  return url.from < link.from ? { ...url, to: link.from } : undefined;
}

/**
 * Finds inline code in one line. The strict reading requires word boundaries and only text inside;
 * a loose reading accepts any pair of backticks.
 */
function findCode(
  line: string,
  start: number,
  taken: Uint8Array,
  reading: ReadingMode,
): OpaqueRange[] {
  const found: OpaqueRange[] = [];
  const isTick = (at: number) => line[at] === '`' && taken[start + at] === 0;
  let open = 0;
  while (open < line.length) {
    let close = open + 1;
    while (close < line.length && !isTick(close)) close += 1;
    if (close >= line.length) break;
    if (isTick(open) && isCode(line, open, close, reading)) {
      found.push({ type: 'code', from: start + open, to: start + close + 1 });
      close += 1;
    }
    open = close;
  }
  return found;
}

function isCode(line: string, open: number, close: number, reading: ReadingMode): boolean {
  if (close - open < 2) return false;
  const first = getCharacterAt(line, open + 1);
  const last = getCharacterBefore(line, close);
  if (!canBeInsideMark(first, reading) || !canBeInsideMark(last, reading)) return false;
  const before = getCharacterBefore(line, open);
  const after = getCharacterAt(line, close + 1);
  if (before === '\u2060' || after === '\u2060') return false;
  if (reading !== 'strict') return true;
  return (
    before !== '`' &&
    after !== '`' &&
    canBeOutsideMark(before, reading) &&
    canBeOutsideMark(after, reading)
  );
}

/** A pair of markers in one line, as offsets in the whole text. */
interface MarkerPair {
  readonly type: 'bold' | 'italic' | 'strike';
  readonly from: number;
  readonly to: number;
}

const MARKERS = [
  ['*', 'bold'],
  ['_', 'italic'],
  ['~', 'strike'],
] as const;

/**
 * Finds the marks of one line from left to right: each opening marker pairs with the nearest
 * closing marker, so a mark never nests in itself. In the strict reading, the same character must
 * not occur between the two markers, because some clients then do not show the mark.
 * @param taken nonzero for characters that belong to another construct
 */
function findMarks(
  line: string,
  start: number,
  taken: Uint8Array,
  reading: ReadingMode,
): MarkerPair[] {
  return MARKERS.flatMap(([marker, type]) => {
    const pairs: MarkerPair[] = [];
    let open: number | undefined;
    for (let at = line.indexOf(marker); at >= 0; at = line.indexOf(marker, at + 1)) {
      const isFree = taken[start + at] === 0;
      const isPair = isFree && open !== undefined && at - open > 1;
      if (isPair && open !== undefined && canCloseMark(line, at, marker, reading)) {
        pairs.push({ type, from: start + open, to: start + at + 1 });
        open = undefined;
      } else if (open === undefined || reading === 'strict') {
        open = isFree && canOpenMark(line, at, marker, reading) ? at : undefined;
      }
    }
    return pairs;
  });
}

function canOpenMark(line: string, at: number, marker: string, reading: ReadingMode): boolean {
  const before = getCharacterBefore(line, at);
  const after = getCharacterAt(line, at + 1);
  if (reading === 'strict' && (before === marker || after === marker)) return false;
  return canBeOutsideMark(before, reading) && canBeInsideMark(after, reading);
}

function canCloseMark(line: string, at: number, marker: string, reading: ReadingMode): boolean {
  const before = getCharacterBefore(line, at);
  const after = getCharacterAt(line, at + 1);
  if (reading === 'strict' && (before === marker || after === marker)) return false;
  return canBeInsideMark(before, reading) && canBeOutsideMark(after, reading);
}

/**
 * Whether any two pairs overlap without nesting; clients then show one of the two marks or none.
 */
export function hasCrossing(pairs: readonly { from: number; to: number }[]): boolean {
  const open: number[] = [];
  for (const { from, to } of [...pairs].sort((a, b) => a.from - b.from)) {
    while ((open.at(-1) ?? Number.POSITIVE_INFINITY) <= from) open.pop();
    if (to > (open.at(-1) ?? Number.POSITIVE_INFINITY)) return true;
    open.push(to);
  }
  return false;
}

/**
 * Clients interpret marks differently. `strict` finds only marks that every client shows. The loose
 * readings also find marks that only some clients show; those clients may treat a word joiner as
 * white space or as a letter. A text is correct if all readings find the same marks.
 */
export type ReadingMode = 'strict' | 'loose' | 'loose-joiner-space' | 'loose-joiner-letter';

const WHITE_SPACE = /\s/;
const PUNCTUATION = /[\p{P}$+<=>^`|~]/u;
const INVISIBLE = /\p{Cf}/u;

/**
 * Scripts written without spaces between words; some clients see a word boundary next to their
 * characters.
 */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const LETTER_OR_DIGIT = /[\p{L}\p{N}\p{M}]/u;

/** Variation selectors and the keycap, which end an emoji and do not belong to a word. */
const EMOJI_END = /[\ufe0e\ufe0f\u20e3]/;

/** An invisible character that no client is known to treat as white space or as a word boundary. */
const WORD_JOINER = '\u2060';

/**
 * Whether this character may be directly outside a mark; undefined means the start or end of the
 * line.
 */
function canBeOutsideMark(character: string | undefined, reading: ReadingMode): boolean {
  if (character === undefined || WHITE_SPACE.test(character)) return true;
  if (PUNCTUATION.test(character)) return true;
  if (character === WORD_JOINER) return reading === 'loose-joiner-space';
  if (reading === 'strict') return false;
  if (EMOJI_END.test(character) || UNSPACED.test(character)) return true;
  return !LETTER_OR_DIGIT.test(character);
}

/** Whether this character may be directly inside a mark. */
function canBeInsideMark(character: string | undefined, reading: ReadingMode): boolean {
  if (character === undefined || WHITE_SPACE.test(character)) return false;
  if (character === WORD_JOINER) return reading === 'loose-joiner-letter';
  return reading !== 'strict' || !INVISIBLE.test(character);
}

/** Returns the code point that starts at this offset in a line. */
function getCharacterAt(text: string, at: number): string | undefined {
  const code = text.codePointAt(at);
  return code === undefined ? undefined : String.fromCodePoint(code);
}

/** Returns the code point that ends at this offset in a line. */
function getCharacterBefore(text: string, at: number): string | undefined {
  const low = text.charCodeAt(at - 1);
  const isLow = low >= 0xdc00 && low <= 0xdfff;
  return at <= 0 ? undefined : getCharacterAt(text, isLow && at > 1 ? at - 2 : at - 1);
}
