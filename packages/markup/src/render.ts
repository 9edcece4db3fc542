import type { RenderTarget } from '@parley/core';
import { renderMarkdownUnchanged } from './as-written.ts';
import {
  CAPABILITIES,
  type DialectCapabilities,
  type PrintedTarget,
  TELEGRAM_RICH,
} from './capabilities.ts';
import type { Leaf } from './document.ts';
import { parseMarkdown } from './parse/parse.ts';
import { isRichTarget, PartPrinter } from './part-printer.ts';
import { MarkupError, type RenderedPart } from './rendered-part.ts';
import { type SplitRoom, splitLeaves, splitWithPartNumbers } from './split/split.ts';
import { runAllSteps, runStepsWithPauses, type Steps } from './steps.ts';
import { toLeaves } from './transform/blocks.ts';

/**
 * Renders Markdown (GFM) as the messages that a platform accepts. Any input renders, in bounded
 * time; input without visible content yields no parts. Use it only for short text, because long
 * text blocks the event loop.
 * @throws MarkupError `target-too-short` if the target's parts are shorter than 16.
 */
export function render(markdown: string, target: RenderTarget): RenderedPart[] {
  return runAllSteps(renderSteps(markdown, target));
}

/** Text up to this length, in UTF-16 units, takes no longer than a step. */
const ONE_STEP = 1_000;

/**
 * Renders like `render`, but in steps of a few milliseconds each, so that text of any length lets
 * other work continue.
 * @param pause what to await between two steps: `setImmediate` of `node:timers/promises`.
 * @throws MarkupError like `render`.
 */
export async function renderInSteps(
  markdown: string,
  target: RenderTarget,
  pause: () => Promise<void>,
): Promise<RenderedPart[]> {
  if (markdown.length <= ONE_STEP) return render(markdown, target);
  return runStepsWithPauses(renderSteps(markdown, target), pause);
}

/** Renders with a step for each parsed piece and each created part. */
export function* renderSteps(markdown: string, target: RenderTarget): Steps<RenderedPart[]> {
  checkTarget(target);
  if (!isPrintedTarget(target)) return renderMarkdownUnchanged(markdown, target);
  const parsed = yield* parseMarkdown(markdown);
  const leaves = yield* toLeaves(parsed, getDialectCapabilities(target), target.mentions);
  const printer = new PartPrinter(target);
  const parts = yield* splitForTarget(target, leaves, printer);
  const printed: RenderedPart[] = [];
  for (const part of parts) {
    printed.push(printer.print(part));
    yield;
  }
  return printed;
}

function getDialectCapabilities(target: PrintedTarget): DialectCapabilities {
  return isRichTarget(target) ? TELEGRAM_RICH : CAPABILITIES[target.dialect];
}

function isPrintedTarget(target: RenderTarget): target is PrintedTarget {
  return target.dialect !== 'markdown';
}

function splitForTarget(
  target: RenderTarget,
  leaves: readonly Leaf[],
  room: SplitRoom,
): Steps<Leaf[][]> {
  if (target.numbered === undefined) return splitLeaves(leaves, room);
  // Besides the label and its empty line, a part must still have space for text.
  return splitWithPartNumbers(leaves, room, 1 - (MIN_LENGTH + 2) / target.maxLength);
}

/** The minimum part length, which holds one character in every dialect with a margin. */
const MIN_LENGTH = 16;

/** @throws MarkupError `target-too-short` if the target's parts are shorter than 16. */
function checkTarget({ maxLength }: RenderTarget): void {
  if (maxLength >= MIN_LENGTH) return;
  throw new MarkupError({
    code: 'target-too-short',
    message: `Parts of ${maxLength} are too short to hold text; allow at least ${MIN_LENGTH}.`,
    retryable: false,
  });
}
