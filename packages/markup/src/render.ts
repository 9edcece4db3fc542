import type { RenderTarget } from '@parley/core';
import { asWritten } from './as-written.ts';
import {
  CAPABILITIES,
  type DialectCapabilities,
  type PrintedDialect,
  type PrintedTarget,
  TELEGRAM_RICH,
} from './capabilities.ts';
import { contentLength, type Leaf } from './document.ts';
import { parseMarkdown } from './parse/parse.ts';
import { printDiscord } from './print/discord.ts';
import { printHtml, printTelegram } from './print/html.ts';
import { type Printed, printPlain, printPlainLeaves } from './print/lines.ts';
import { printTelegramRich } from './print/telegram-rich.ts';
import { printWhatsApp } from './print/whatsapp.ts';
import { MarkupError, type RenderedPart } from './rendered-part.ts';
import { type Room, splitLeaves, splitNumbered } from './split/split.ts';
import { finishInTurns, runAllSteps, type Steps } from './steps.ts';
import { simplifyLeaf, toLeaves } from './transform/blocks.ts';

/**
 * Renders Markdown (GFM) as the messages a platform accepts. Any input renders, in bounded time;
 * input without anything to see gives no parts. For short texts: a long one holds up everything else.
 * @throws MarkupError `target-too-short` if the target's parts are shorter than 16.
 */
export function render(markdown: string, target: RenderTarget): RenderedPart[] {
  return runAllSteps(renderSteps(markdown, target));
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
  if (!isPrinted(target)) return asWritten(markdown, target);
  const parsed = yield* parseMarkdown(markdown);
  const leaves = yield* toLeaves(parsed, capabilitiesOf(target), target.mentions);
  const printer = new PartPrinter(target);
  const parts = yield* splitFor(target, leaves, printer);
  const printed: RenderedPart[] = [];
  for (const part of parts) {
    printed.push(printer.print(part));
    yield;
  }
  return printed;
}

function isRich({ dialect, rich }: RenderTarget): boolean {
  return rich === true && dialect === 'telegram';
}

function capabilitiesOf(target: PrintedTarget): DialectCapabilities {
  return isRich(target) ? TELEGRAM_RICH : CAPABILITIES[target.dialect];
}

function isPrinted(target: RenderTarget): target is PrintedTarget {
  return target.dialect !== 'markdown';
}

function splitFor(target: RenderTarget, leaves: readonly Leaf[], room: Room): Steps<Leaf[][]> {
  if (target.numbered === undefined) return splitLeaves(leaves, room);
  // Besides the label and its empty line a part must still hold text.
  return splitNumbered(leaves, room, 1 - (MIN_LENGTH + 2) / target.maxLength);
}

/** Shortest part that holds one character in every dialect, with room to spare. */
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

/**
 * Measures and prints the parts of one target. What fits is printed from what was measured: most
 * answers are one part, and are printed once.
 */
export class PartPrinter implements Room {
  readonly window: number;
  readonly #target: PrintedTarget;
  readonly #pings: DialectCapabilities['pings'];
  #last: Measured | undefined;
  /** What leaves of a rich message are in an ordinary one. */
  readonly #simple = new Map<Leaf, readonly Leaf[]>();

  constructor(target: PrintedTarget) {
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
    const full = printPlainLeaves(this.#shown(leaves), { addresses: true, pings: this.#pings });
    const fits = measure(full, this.#target.unit) <= this.#target.maxLength;
    const rich = isRich(this.#target) ? printTelegramRich(leaves) : undefined;
    return {
      text: printed.text,
      plain: fits ? full : plain,
      ...(rich !== undefined && { rich }),
    };
  }

  /** The leaves of an ordinary message, which every part can be sent as. */
  #shown(leaves: readonly Leaf[]): readonly Leaf[] {
    if (!isRich(this.#target)) return leaves;
    return leaves.flatMap((leaf) => {
      const simple = this.#simple.get(leaf) ?? simplifyLeaf(leaf, CAPABILITIES.telegram);
      this.#simple.set(leaf, simple);
      return simple;
    });
  }

  #measure(leaves: readonly Leaf[]): Measured {
    if (this.#last?.leaves === leaves) return this.#last;
    const { dialect, mentions } = this.#target;
    const shown = this.#shown(leaves);
    const printed = PRINTERS[dialect](shown, mentions);
    const plain = printPlainLeaves(shown, { addresses: false, pings: this.#pings });
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

/** Length of a text as the platform counts it. */
export function measure(text: string, unit: RenderTarget['unit']): number {
  switch (unit) {
    case 'utf16':
      return text.length;
    case 'byte':
      return Buffer.byteLength(text);
    case 'codepoint': {
      let count = 0;
      for (const _ of text) count += 1;
      return count;
    }
  }
}

/** Prints leaves as one part. Never refuses and never shortens. */
type Print = (leaves: readonly Leaf[], mentions?: RenderTarget['mentions']) => Printed;

/** One printer per dialect, beside its row in the capability table. */
const PRINTERS: Readonly<Record<PrintedDialect, Print>> = {
  telegram: printTelegram,
  discord: printDiscord,
  whatsapp: printWhatsApp,
  plain: printPlain,
  html: printHtml,
};
