import type { RenderTarget } from '@parley/contracts';
import { CAPABILITIES, type DialectCapabilities } from './capabilities.ts';
import { PRINTERS } from './dialects.ts';
import type { Leaf } from './document.ts';
import { contentLength } from './leaf-content.ts';
import { MarkupError } from './markup-error.ts';
import { measure } from './measure.ts';
import { plainText } from './print/plain.ts';
import type { Printed } from './print/printed.ts';
import type { Room } from './split/split-leaves.ts';

/** One message. */
export interface RenderedPart {
  /** In the target's dialect. */
  readonly text: string;
  /** What people see of `text`, for a platform that refuses it; link addresses are written out if there is room. */
  readonly plain: string;
}

/** Shortest part that holds one character in every dialect, with room to spare. */
export const MIN_LENGTH = 16;

/** @throws MarkupError `target-too-short` if the target's parts are shorter than 16. */
export function checkTarget({ maxLength }: RenderTarget): void {
  if (maxLength >= MIN_LENGTH) return;
  throw new MarkupError({
    code: 'target-too-short',
    message: `Parts of ${maxLength} are too short to hold text; allow at least ${MIN_LENGTH}.`,
    retryable: false,
  });
}

/**
 * Measures and prints the parts of one target. What fits is printed from what was measured: most
 * answers are one part, and are printed once.
 */
export class PartPrinter implements Room {
  readonly window: number;
  readonly #target: RenderTarget;
  readonly #pings: DialectCapabilities['pings'];
  #last: Measured | undefined;

  constructor(target: RenderTarget) {
    this.#target = target;
    this.#pings = target.mentions === 'live' ? [] : CAPABILITIES[target.dialect].pings;
    // A code point takes two UTF-16 units at most; the other units are never fewer.
    this.window = target.maxLength * 2 + 2;
  }

  /** How full a part with these leaves would be, in the dialect and in plain text. */
  load(leaves: readonly Leaf[]): number {
    if (contentLength(leaves, this.window) > this.window) return Number.POSITIVE_INFINITY;
    const { dialect, maxLength, unit } = this.#target;
    const { printed, plain } = this.#measure(leaves);
    const length = Math.max(measure(printed.counted, unit), measure(plain, unit));
    return Math.max(length / maxLength, printed.entities / CAPABILITIES[dialect].maxEntities);
  }

  /** Prints leaves that fit into one part. */
  print(leaves: readonly Leaf[]): RenderedPart {
    const { printed, plain } = this.#measure(leaves);
    const full = plainText(leaves, { addresses: true, pings: this.#pings });
    const fits = measure(full, this.#target.unit) <= this.#target.maxLength;
    return { text: printed.text, plain: fits ? full : plain };
  }

  #measure(leaves: readonly Leaf[]): Measured {
    if (this.#last?.leaves === leaves) return this.#last;
    const { dialect, mentions } = this.#target;
    const printed = PRINTERS[dialect](leaves, mentions);
    const plain = plainText(leaves, { addresses: false, pings: this.#pings });
    this.#last = { leaves, printed, plain };
    return this.#last;
  }
}

/** Leaves as they would be one part. */
interface Measured {
  readonly leaves: readonly Leaf[];
  readonly printed: Printed;
  readonly plain: string;
}
