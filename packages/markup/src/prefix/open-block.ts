import type { Leaf } from '../document.ts';
import { type Before, type DraftTarget, draftSegment } from './draft-segment.ts';
import { parseOpen } from './open-segment.ts';
import type { SegmentParser } from './parse-segment.ts';

/** Longer blocks are not shown anew for every word, in UTF-16 units. */
const LONG = 4_096;
/** How many times a long block is shown while it becomes twice as long. */
const TIMES = 16;

/** The block that is still being written: parsed again as it grows. */
export class OpenBlock {
  readonly #parser: SegmentParser;
  readonly #target: DraftTarget;
  #last: { length: number; before: Before; leaves: readonly Leaf[] } | undefined;

  constructor(parser: SegmentParser, target: DraftTarget) {
    this.#parser = parser;
    this.#target = target;
  }

  /**
   * Its leaves, with what is half at its end completed. The very same ones as before if they show the
   * same.
   * @param before what stands before it; another object if the block is another one.
   */
  leaves(text: string, before: Before): readonly Leaf[] {
    const length = shownLength(text);
    if (this.#last?.length === length && this.#last.before === before) return this.#last.leaves;
    const segment = parseOpen(text.slice(0, length), this.#parser);
    const { leaves } = draftSegment(segment, before, this.#target);
    this.#last = { length, before, leaves };
    return leaves;
  }
}

/** How much of a block is shown: all of it, or of a long one that is not over at least 15 in 16 parts. */
function shownLength(text: string): number {
  if (text.length <= LONG || /\n[ \t]*\n$/.test(text.slice(-100))) return text.length;
  const step = 2 ** Math.floor(Math.log2(text.length)) / TIMES;
  const length = Math.floor(text.length / step) * step;
  return isHighSurrogate(text.charCodeAt(length - 1)) ? length - 1 : length;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
