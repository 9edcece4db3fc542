import type { RenderTarget } from '@parley/contracts';
import { CAPABILITIES, type DialectCapabilities } from './capabilities.ts';
import { PRINTERS } from './dialects.ts';
import type { Leaf } from './document.ts';
import { contentLength } from './leaf-content.ts';
import { MarkupError } from './markup-error.ts';
import { measure } from './measure.ts';
import { plainText } from './print/plain.ts';
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

/** How much of these leaves one part of the target can hold, in its dialect and in plain text. */
export function roomOf(target: RenderTarget): Room {
  const { dialect, maxLength, unit, mentions } = target;
  const print = PRINTERS[dialect];
  const pings = pingsOf(target);
  const { maxEntities } = CAPABILITIES[dialect];
  // A code point takes two UTF-16 units at most; the other units are never fewer.
  const window = maxLength * 2 + 2;
  return {
    window,
    load: (leaves) => {
      if (contentLength(leaves, window) > window) return Number.POSITIVE_INFINITY;
      const { counted, entities } = print(leaves, mentions);
      const plain = plainText(leaves, { addresses: false, pings });
      const length = Math.max(measure(counted, unit), measure(plain, unit));
      return Math.max(length / maxLength, entities / maxEntities);
    },
  };
}

/** Prints leaves that fit into one part. */
export function printPart(leaves: readonly Leaf[], target: RenderTarget): RenderedPart {
  const pings = pingsOf(target);
  const full = plainText(leaves, { addresses: true, pings });
  const fits = measure(full, target.unit) <= target.maxLength;
  return {
    text: PRINTERS[target.dialect](leaves, target.mentions).text,
    plain: fits ? full : plainText(leaves, { addresses: false, pings }),
  };
}

function pingsOf({ dialect, mentions }: RenderTarget): DialectCapabilities['pings'] {
  return mentions === 'live' ? [] : CAPABILITIES[dialect].pings;
}
