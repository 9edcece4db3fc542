import {
  characterAt,
  characterBefore,
  isEdge,
  isInside,
  type Reading,
} from './format-characters.ts';

/** A stretch in which no marks are searched. */
export interface Opaque {
  readonly type: 'monospace' | 'code' | 'url';
  /** Offsets in the whole text, markers included. */
  readonly from: number;
  readonly to: number;
}

const FENCE = '```';
const SCHEME_URL = /\b(?:https?:\/\/|www\.)[^\s`]+/gi;
/** Clients link a bare host too; with a path it can hold marker characters. */
const BARE_URL = /\b(?:[a-z0-9-]+\.)+[a-z]{2,}\/[^\s`]*/gi;

/** Triple-backtick stretches: they may span lines and need no word edge, only something to see. */
export function findMonospace(text: string): { found: Opaque[]; unpaired: number | undefined } {
  const found: Opaque[] = [];
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
 * Addresses in one line. Strict: up to the next white space, since a client may take everything in;
 * loose: less the punctuation and markers at the end, since a client may leave them out.
 */
export function findUrls(line: string, start: number, reading: Reading): Opaque[] {
  const found: Opaque[] = [];
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

/** Inline code in one line. Strict wants word edges and nothing but text inside; loose any pair. */
export function findCode(
  line: string,
  start: number,
  taken: Uint8Array,
  reading: Reading,
): Opaque[] {
  const found: Opaque[] = [];
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

function isCode(line: string, open: number, close: number, reading: Reading): boolean {
  if (close - open < 2) return false;
  const first = characterAt(line, open + 1);
  const last = characterBefore(line, close);
  if (!isInside(first, reading) || !isInside(last, reading)) return false;
  const before = characterBefore(line, open);
  const after = characterAt(line, close + 1);
  if (before === '\u2060' || after === '\u2060') return false;
  if (reading === 'loose') return true;
  return before !== '`' && after !== '`' && isEdge(before, reading) && isEdge(after, reading);
}
