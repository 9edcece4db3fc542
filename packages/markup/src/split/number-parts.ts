import type { Leaf } from '../document.ts';
import type { Steps } from '../steps.ts';
import { type Room, splitLeaves } from './split-leaves.ts';

/**
 * Splits as `splitLeaves` does, and lets each of several parts end with a line such as `(2/5)`. The
 * line takes its room like any other, so parts stay within their limit.
 * @param mostLabel a label that fills more of a part than this, 0 to 1, is left out on all parts.
 */
export function* splitNumbered(
  leaves: readonly Leaf[],
  room: Room,
  mostLabel: number,
): Steps<Leaf[][]> {
  const plain = yield* splitLeaves(leaves, room);
  if (plain.length < 2) return plain;
  // The labels themselves can make one more digit necessary.
  for (let digits = String(plain.length).length; ; digits += 1) {
    const widest = labelOf('9'.repeat(digits), '9'.repeat(digits));
    if (room.load([widest]) > mostLabel) return plain;
    const load: Room['load'] = (part) => room.load([...part, widest]);
    const parts = yield* splitLeaves(leaves, { ...room, load });
    // With less room a quote or list may be given up, and then all of it fit into one part.
    if (parts.length < 2) return parts;
    const count = String(parts.length);
    if (count.length > digits) continue;
    return parts.map((part, index) => [...part, labelOf(String(index + 1), count)]);
  }
}

function labelOf(index: string, count: string): Leaf {
  const runs = [{ text: `(${index}/${count})`, marks: [] }];
  return { kind: 'text', runs, within: [], fresh: 0, gap: 2 };
}
