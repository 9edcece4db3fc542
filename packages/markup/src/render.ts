import type { RenderTarget } from '@parley/contracts';
import { CAPABILITIES } from './capabilities.ts';
import { PRINTERS } from './dialects.ts';
import type { Leaf } from './document.ts';
import { contentLength } from './leaf-content.ts';
import { MarkupError } from './markup-error.ts';
import { measure } from './measure.ts';
import { parseMarkdown } from './parse/parse.ts';
import { plainText } from './print/plain.ts';
import { splitNumbered } from './split/number-parts.ts';
import { type Room, splitLeaves } from './split/split-leaves.ts';
import { finish, finishInTurns, type Steps } from './steps.ts';
import { toLeaves } from './transform/to-leaves.ts';

/** One message. */
export interface RenderedPart {
  /** In the target's dialect. */
  readonly text: string;
  /** What people see of `text`, for a platform that refuses it; link addresses are written out if there is room. */
  readonly plain: string;
}

/** Shortest part that holds one character in every dialect, with room to spare. */
const MIN_LENGTH = 16;

/**
 * Renders Markdown (GFM) as the messages a platform accepts. Any input renders, in bounded time;
 * input without anything to see gives no parts. For short texts: a long one holds up everything else.
 * @throws MarkupError `target-too-short` if the target's parts are shorter than 16.
 */
export function render(markdown: string, target: RenderTarget): RenderedPart[] {
  return finish(renderSteps(markdown, target));
}

/**
 * Renders as `render` does, in steps of a few milliseconds each, so that text of any length lets
 * other work go on.
 * @param pause what to await between two steps: `setImmediate` of `node:timers/promises`.
 * @throws MarkupError as `render` does.
 */
export function renderInSteps(
  markdown: string,
  target: RenderTarget,
  pause: () => Promise<void>,
): Promise<RenderedPart[]> {
  return finishInTurns(renderSteps(markdown, target), pause);
}

/** The work of rendering, a step for each piece that is parsed and each part that is made. */
export function* renderSteps(markdown: string, target: RenderTarget): Steps<RenderedPart[]> {
  if (target.maxLength < MIN_LENGTH) {
    throw new MarkupError({
      code: 'target-too-short',
      message: `Parts of ${target.maxLength} are too short to hold text; allow at least ${MIN_LENGTH}.`,
      retryable: false,
    });
  }
  const parsed = yield* parseMarkdown(markdown);
  const leaves = yield* toLeaves(parsed, CAPABILITIES[target.dialect], target.mentions);
  const parts = yield* splitFor(target, leaves);
  const printed: RenderedPart[] = [];
  for (const part of parts) {
    printed.push(printPart(part, target));
    yield;
  }
  return printed;
}

function splitFor(target: RenderTarget, leaves: readonly Leaf[]): Steps<Leaf[][]> {
  const room = roomOf(target);
  if (target.numbered === undefined) return splitLeaves(leaves, room);
  // Besides the label and its empty line a part must still hold text.
  return splitNumbered(leaves, room, 1 - (MIN_LENGTH + 2) / target.maxLength);
}

function roomOf({ dialect, maxLength, unit }: RenderTarget): Room {
  const print = PRINTERS[dialect];
  const { maxEntities } = CAPABILITIES[dialect];
  // A code point takes two UTF-16 units at most; the other units are never fewer.
  const window = maxLength * 2 + 2;
  return {
    window,
    load: (leaves) => {
      if (contentLength(leaves, window) > window) return Number.POSITIVE_INFINITY;
      const { counted, entities } = print(leaves);
      const plain = plainText(leaves, { addresses: false });
      const length = Math.max(measure(counted, unit), measure(plain, unit));
      return Math.max(length / maxLength, entities / maxEntities);
    },
  };
}

function printPart(
  leaves: readonly Leaf[],
  { dialect, maxLength, unit }: RenderTarget,
): RenderedPart {
  const full = plainText(leaves, { addresses: true });
  const fits = measure(full, unit) <= maxLength;
  return {
    text: PRINTERS[dialect](leaves).text,
    plain: fits ? full : plainText(leaves, { addresses: false }),
  };
}
