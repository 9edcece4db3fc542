import type { RenderTarget } from '@parley/contracts';
import { CAPABILITIES } from './capabilities.ts';
import { sourceText } from './parse/parse.ts';
import { BlockReader, type OpenEnd } from './prefix/block-reader.ts';
import { PartMaker } from './prefix/part-maker.ts';
import { checkTarget, PartPrinter } from './render.ts';
import type { RenderedPart } from './rendered-part.ts';

/** An unfinished answer as it should be shown now: each part is legal and within the limit. */
export interface ShownPrefix {
  /** The first parts; they never change again. Each call of `show` only adds to this list. */
  readonly settled: readonly RenderedPart[];
  /** What follows and may change: mostly one part, none if there is nothing more to see. */
  readonly open: readonly RenderedPart[];
}

/** Renders an answer while it is being written. */
export interface PrefixRenderer {
  /** The answer goes on. Only remembers; nothing is rendered for nobody. */
  push(text: string): void;
  /** The answer so far. */
  show(): ShownPrefix;
}

/**
 * Makes a renderer for one answer that comes bit by bit. Its work is in proportion to what is new, as
 * it keeps what can no longer change and renders only the last block again. Parts have no numbers:
 * how many there will be is not known.
 * @throws MarkupError as `render` does.
 */
export function createPrefixRenderer(target: RenderTarget): PrefixRenderer {
  checkTarget(target);
  const capabilities = CAPABILITIES[target.dialect];
  const pings = target.mentions === 'live' ? [] : capabilities.pings;
  const settled: RenderedPart[] = [];
  const printer = new PartPrinter(target);
  const parts = new PartMaker(printer);
  const reader = new BlockReader({ capabilities, pings }, parts);
  const normalise = createNormaliser();
  let unread = '';
  let end: OpenEnd | undefined;
  let open: RenderedPart[] = [];
  return {
    push(text) {
      unread += text;
    },
    show() {
      reader.read(normalise(unread));
      unread = '';
      const now = reader.open();
      if (now === end) return { settled, open };
      end = now;
      const made = parts.take(now.more, now.leaves);
      for (const part of made.settled) settled.push(printer.print(part));
      open = made.open.map((part) => printer.print(part));
      return { settled, open };
    },
  };
}

/** Brings text to the form the parser reads, however it was cut on its way. */
type Normalise = (text: string) => string;

/** What cannot be understood without the next character: half a surrogate pair, half a line end. */
const HALF = /[\r\ud800-\udbff]$/;

/**
 * Makes a normaliser for one text that comes bit by bit: line ends as `\n`, well-formed, no byte order
 * mark. What is half at the end waits for the other half.
 */
function createNormaliser(): Normalise {
  let waiting = '';
  let isStart = true;
  return (text) => {
    let whole = waiting + text;
    if (whole === '') return '';
    if (isStart && whole.startsWith('\ufeff')) whole = whole.slice(1);
    isStart = false;
    const end = HALF.test(whole) ? whole.length - 1 : whole.length;
    waiting = whole.slice(end);
    return sourceText(whole.slice(0, end));
  };
}
