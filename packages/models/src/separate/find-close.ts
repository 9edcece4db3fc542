import { isInInlineCode } from './shown-text.ts';

interface EndMarkerMatch {
  readonly kind: 'found' | 'none';
  /**
   * The position of the end marker. If there is no end marker, the position before which no end
   * marker can start.
   */
  readonly at: number;
  readonly length: number;
}

/** Finds the first end marker of reasoning that is neither quoted nor within inline code. */
export function findEndMarker(
  text: string,
  closes: readonly string[],
  ended: boolean,
  from = 0,
): EndMarkerMatch {
  let start = from;
  for (;;) {
    const found = findFirstMarker(text, closes, start);
    if (found === null) break;
    const line = text.slice(text.lastIndexOf('\n', found.at - 1) + 1, found.at);
    const next = text[found.at + found.length] ?? '';
    const isQuoted = /["'“‘«]$/.test(line) && /["'”’»]/.test(next);
    // A quotation mark after the marker may still arrive.
    if (next === '' && !ended && /["'“‘«]$/.test(line))
      return { kind: 'none', at: found.at, length: 0 };
    if (!isQuoted && !isInInlineCode(line)) return { kind: 'found', ...found };
    start = found.at + found.length;
  }
  if (ended) return { kind: 'none', at: text.length, length: 0 };
  const tail = Math.max(0, ...closes.map((close) => measurePartialMarker(text, close)));
  return { kind: 'none', at: Math.max(start, text.length - tail), length: 0 };
}

/** Finds the first of these markers in the text, from a given position on. */
export function findFirstMarker(
  text: string,
  marks: readonly string[],
  from: number,
): { readonly at: number; readonly length: number } | null {
  const lower = text.slice(from).toLowerCase();
  let first: { at: number; length: number } | null = null;
  for (const mark of marks) {
    const at = lower.indexOf(mark);
    if (at !== -1 && (first === null || from + at < first.at))
      first = { at: from + at, length: mark.length };
  }
  return first;
}

/** Returns the length of a partial marker at the end of the text. */
function measurePartialMarker(text: string, mark: string): number {
  const tail = text.slice(-(mark.length - 1)).toLowerCase();
  for (let length = Math.min(tail.length, mark.length - 1); length > 0; length -= 1) {
    if (mark.startsWith(tail.slice(-length))) return length;
  }
  return 0;
}

/** How many lines in the reasoning open it again. */
export function countOpeningMarkers(content: string, open: string): number {
  const lines = content.toLowerCase().split('\n');
  return open === '' ? 0 : lines.filter((line) => line.trimStart().startsWith(open)).length;
}
