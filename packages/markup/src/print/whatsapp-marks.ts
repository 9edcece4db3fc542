import { findAddresses, type Span } from './whatsapp-addresses.ts';
import {
  characterAt,
  characterBefore,
  isBetweenWords,
  isSafeInside,
  isSafeInsideCode,
  isSafeOutside,
} from './whatsapp-characters.ts';

/** WhatsApp's inline formats and their markers. */
export const MARKER = { bold: '*', italic: '_', strike: '~', code: '`' } as const;

/** A format and where it stands in a line; offsets in the line's text without markers. */
export interface Stretch {
  readonly type: keyof typeof MARKER;
  readonly from: number;
  readonly to: number;
}

/** The stretches that hold on every client, without what does not belong to them at their ends. */
export function settleStretches(
  text: string,
  stretches: readonly Stretch[],
): { marks: Stretch[]; addresses: Span[] } {
  const codes = stretches
    .filter(({ type }) => type === 'code')
    .flatMap((code) => settle(text, code));
  const addresses = findAddresses(text, codes);
  const marks = stretches.flatMap((stretch) => {
    if (stretch.type === 'code') return [];
    return without(stretch, addresses).flatMap((piece) => settle(text, piece));
  });
  const free = codes.filter((code) => without(code, addresses)[0]?.to === code.to);
  const sorted = [...marks, ...free].sort((a, b) => a.from - b.from || b.to - a.to);
  return { marks: sorted, addresses };
}

/** The pieces of a stretch between spans; both in order of place. */
function without(stretch: Stretch, spans: readonly Span[]): Stretch[] {
  const pieces: Stretch[] = [];
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
 * White space at the ends moves outside, and so does punctuation of a mark that stands at a word's
 * edge only without it.
 */
function settle(text: string, { type, from, to }: Stretch): Stretch[] {
  const isInside = type === 'code' ? isSafeInsideCode : isSafeInside;
  const mayLeave = type === 'code' ? isWhiteSpace : isBetweenWords;
  let start = from;
  for (let next = characterAt(text, start); start < to; next = characterAt(text, start)) {
    if (isInside(next) && isSafeOutside(characterBefore(text, start))) break;
    if (!mayLeave(next)) return [];
    start += next.length;
  }
  let end = to;
  for (let last = characterBefore(text, end); end > start; last = characterBefore(text, end)) {
    if (isInside(last) && isSafeOutside(characterAt(text, end))) break;
    if (!mayLeave(last)) return [];
    end -= last.length;
  }
  // A client may give up on a mark that contains its own marker.
  if (end <= start || text.slice(start, end).includes(MARKER[type])) return [];
  return [{ type, from: start, to: end }];
}

function isWhiteSpace(character: string): boolean {
  return character.trim() === '';
}
