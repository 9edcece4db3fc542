import type { RenderTarget } from '@parley/core';
import {
  CAPABILITIES,
  type DialectCapabilities,
  type PrintedDialect,
  type PrintedTarget,
} from './capabilities.ts';
import { type Leaf, measureContent } from './document.ts';
import { printGfm, printTeams } from './print/common-mark.ts';
import { printDiscord } from './print/discord.ts';
import { printGoogleChat } from './print/google-chat.ts';
import { printHtml, printTelegram } from './print/html.ts';
import { type PrintedPart, printPlain, printPlainLeaves } from './print/lines.ts';
import { printSlack } from './print/slack.ts';
import { printTelegramRich } from './print/telegram-rich.ts';
import { printWhatsApp } from './print/whatsapp.ts';
import type { RenderedPart } from './rendered-part.ts';
import type { SplitRoom } from './split/split.ts';
import { simplifyLeaf } from './transform/blocks.ts';

/**
 * Measures and prints the parts for one target. Leaves that fit are printed from the measured text:
 * most answers are one part, and are printed once.
 */
export class PartPrinter implements SplitRoom {
  readonly window: number;
  readonly #target: PrintedTarget;
  readonly #pings: DialectCapabilities['pings'];
  #last: MeasuredPart | undefined;
  /** Converts the leaves of a rich message to those of an ordinary message. */
  readonly #simple = new Map<Leaf, readonly Leaf[]>();

  constructor(target: PrintedTarget) {
    this.#target = target;
    this.#pings = target.mentions === 'live' ? undefined : CAPABILITIES[target.dialect].pings;
    // A code point takes at most two UTF-16 units; counts in other units are never smaller.
    this.window = target.maxLength * 2 + 2;
  }

  /**
   * The size of a part with these leaves relative to the limit, in the dialect and in plain text.
   */
  load(leaves: readonly Leaf[]): number {
    if (measureContent(leaves, this.window) > this.window) return Number.POSITIVE_INFINITY;
    const { dialect, maxLength, unit } = this.#target;
    const { printed, plain } = this.#measure(leaves);
    const length = Math.max(measureLength(printed.counted, unit), measureLength(plain, unit));
    return Math.max(length / maxLength, printed.entities / CAPABILITIES[dialect].maxEntities);
  }

  /** Prints leaves that fit into one part. */
  print(leaves: readonly Leaf[]): RenderedPart {
    const { printed, plain } = this.#measure(leaves);
    const full = printPlainLeaves(this.#shown(leaves), { addresses: true, pings: this.#pings });
    const fits = measureLength(full, this.#target.unit) <= this.#target.maxLength;
    const rich = isRichTarget(this.#target) ? printTelegramRich(leaves) : undefined;
    return {
      text: printed.text,
      plain: fits ? full : plain,
      ...(rich !== undefined && { rich }),
    };
  }

  /** Every part can be sent as an ordinary message with these leaves. */
  #shown(leaves: readonly Leaf[]): readonly Leaf[] {
    if (!isRichTarget(this.#target)) return leaves;
    return leaves.flatMap((leaf) => {
      const simple = this.#simple.get(leaf) ?? simplifyLeaf(leaf, CAPABILITIES.telegram);
      this.#simple.set(leaf, simple);
      return simple;
    });
  }

  #measure(leaves: readonly Leaf[]): MeasuredPart {
    if (this.#last?.leaves === leaves) return this.#last;
    const { dialect, mentions } = this.#target;
    const shown = this.#shown(leaves);
    const printed = PRINTERS[dialect](shown, mentions);
    const plain = printPlainLeaves(shown, { addresses: false, pings: this.#pings });
    this.#last = { leaves, printed, plain };
    return this.#last;
  }
}

/** Leaves as they would appear in one part. */
interface MeasuredPart {
  readonly leaves: readonly Leaf[];
  readonly printed: PrintedPart;
  readonly plain: string;
}

/** The length of text as counted by the platform. */
export function measureLength(text: string, unit: RenderTarget['unit']): number {
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

/** Printing never fails and never shortens the text. */
type PrintLeaves = (leaves: readonly Leaf[], mentions?: RenderTarget['mentions']) => PrintedPart;

/** Each dialect has one printer, which matches its row in the capability table. */
const PRINTERS: Readonly<Record<PrintedDialect, PrintLeaves>> = {
  telegram: printTelegram,
  discord: printDiscord,
  whatsapp: printWhatsApp,
  slack: printSlack,
  'google-chat': printGoogleChat,
  teams: printTeams,
  gfm: printGfm,
  plain: printPlain,
  html: printHtml,
};

export function isRichTarget({ dialect, rich }: RenderTarget): boolean {
  return rich === true && dialect === 'telegram';
}
