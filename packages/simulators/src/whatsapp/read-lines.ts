import { findMarks, type Pair } from './find-marks.ts';
import { findCode, findMonospace, findUrls, type Opaque } from './find-opaque.ts';
import type { Reading } from './format-characters.ts';

/** How a line is drawn. */
export type LineKind =
  | { readonly kind: 'paragraph' | 'quote' | 'bullet' }
  | { readonly kind: 'number'; readonly number: string };

/** A line: where it starts in the text and where its content (behind `> `, `- `, `1. `) stands. */
export type Line = LineKind & {
  readonly start: number;
  readonly from: number;
  readonly to: number;
};

/** Everything found in a text under one reading. */
export interface Found {
  readonly lines: readonly Line[];
  readonly opaque: readonly Opaque[];
  readonly pairs: readonly Pair[];
  /** Where a triple backtick without a partner stands. */
  readonly unpaired: number | undefined;
}

/** Finds lines first, then what no mark is searched in, then marks. */
export function readLines(text: string, reading: Reading): Found {
  const taken = new Uint8Array(text.length);
  const { found, unpaired } = findMonospace(text);
  for (const { from, to } of found) taken.fill(1, from, to);
  const lines = splitLines(text, taken).map(([start, end]) =>
    readLine(text.slice(start, end), start, reading),
  );
  const opaque: Opaque[] = [...found];
  const pairs: Pair[] = [];
  for (const { from, to } of lines) {
    const content = text.slice(from, to);
    for (const url of findUrls(content, from, reading)) {
      if (taken[url.from] !== 0) continue;
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

/** Start and end of each line; a line end in monospace is none. */
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

function readLine(line: string, start: number, reading: Reading): Line {
  const content = (length: number) => ({ start, from: start + length, to: start + line.length });
  const behind = reading === 'strict' ? ' (?! )(?=[^\\n])' : '[^\\S\\n]';
  const [marker = ''] = new RegExp(`^(?:[>*-]|\\d{1,2}\\.)${behind}`).exec(line) ?? [];
  switch (marker[0]) {
    case undefined:
      return { kind: 'paragraph', ...content(0) };
    case '>':
      return { kind: 'quote', ...content(marker.length) };
    case '*':
    case '-':
      return { kind: 'bullet', ...content(marker.length) };
    default:
      return { kind: 'number', number: marker.trimEnd(), ...content(marker.length) };
  }
}
