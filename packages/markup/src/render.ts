import type { RenderTarget } from '@parley/contracts';
import { CAPABILITIES } from './capabilities.ts';
import type { Leaf } from './document.ts';
import { parseMarkdown } from './parse/parse.ts';
import { checkTarget, MIN_LENGTH, PartPrinter, type RenderedPart } from './render-part.ts';
import { splitNumbered } from './split/number-parts.ts';
import { type Room, splitLeaves } from './split/split-leaves.ts';
import { finish, finishInTurns, type Steps } from './steps.ts';
import { toLeaves } from './transform/to-leaves.ts';

/**
 * Renders Markdown (GFM) as the messages a platform accepts. Any input renders, in bounded time;
 * input without anything to see gives no parts. For short texts: a long one holds up everything else.
 * @throws MarkupError `target-too-short` if the target's parts are shorter than 16.
 */
export function render(markdown: string, target: RenderTarget): RenderedPart[] {
  return finish(renderSteps(markdown, target));
}

/** A text up to this length takes no longer than a step, in UTF-16 units. */
const ONE_STEP = 1_000;

/**
 * Renders as `render` does, in steps of a few milliseconds each, so that text of any length lets
 * other work go on.
 * @param pause what to await between two steps: `setImmediate` of `node:timers/promises`.
 * @throws MarkupError as `render` does.
 */
export async function renderInSteps(
  markdown: string,
  target: RenderTarget,
  pause: () => Promise<void>,
): Promise<RenderedPart[]> {
  if (markdown.length <= ONE_STEP) return render(markdown, target);
  return finishInTurns(renderSteps(markdown, target), pause);
}

/** The work of rendering, a step for each piece that is parsed and each part that is made. */
export function* renderSteps(markdown: string, target: RenderTarget): Steps<RenderedPart[]> {
  checkTarget(target);
  const parsed = yield* parseMarkdown(markdown);
  const leaves = yield* toLeaves(parsed, CAPABILITIES[target.dialect], target.mentions);
  const printer = new PartPrinter(target);
  const parts = yield* splitFor(target, leaves, printer);
  const printed: RenderedPart[] = [];
  for (const part of parts) {
    printed.push(printer.print(part));
    yield;
  }
  return printed;
}

function splitFor(target: RenderTarget, leaves: readonly Leaf[], room: Room): Steps<Leaf[][]> {
  if (target.numbered === undefined) return splitLeaves(leaves, room);
  // Besides the label and its empty line a part must still hold text.
  return splitNumbered(leaves, room, 1 - (MIN_LENGTH + 2) / target.maxLength);
}
