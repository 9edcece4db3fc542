import type { DialectCapabilities } from '../capabilities.ts';
import { GrowingText } from './growing-text.ts';
import type { GrowingLeaf, PartMaker } from './part-maker.ts';

/** A line that may still become the closing one of a code block. */
const HALF_FENCE = /^\s{0,3}[`~]*\s*$/;
/** So much of a line tells whether it begins another block; a fence is told by the whole of it. */
const BEGINNING = 16;
const FENCE = /^\s{0,3}(?:```|~~~)/;

/** A code block without its text. */
export interface GrowingCode {
  readonly language: string | undefined;
  /** Spaces before its fence, which its lines may have as well. */
  readonly indent: number;
}

/** How the lines of such a block are read. */
export interface GrowingBlockOptions {
  readonly parts: PartMaker;
  readonly pings: DialectCapabilities['pings'];
  readonly gap: 1 | 2;
  /** Undefined: not code, but text to show as it is written. */
  readonly code: GrowingCode | undefined;
}

/** A block that needs no parser, line by line: its text is certain as soon as it is written. */
export class GrowingBlock {
  readonly #text: GrowingText;
  readonly #code: GrowingBlockOptions['code'];
  readonly gap: 1 | 2;
  /** How much of the last line was taken already. */
  #taken = 0;

  constructor({ parts, pings, gap, code }: GrowingBlockOptions) {
    const place = { within: [], fresh: 0, gap };
    const leaf: GrowingLeaf =
      code === undefined
        ? { kind: 'text', runs: [], ...place }
        : { kind: 'code', language: code.language, text: '', ...place };
    this.#text = new GrowingText(parts, leaf, pings);
    this.#code = code;
    this.gap = gap;
  }

  /** The last line so far; it may go on. */
  grow(line: string): void {
    if (this.#isUndecided(line)) return;
    this.#take(this.#own(line));
  }

  /** The last line, whole. */
  endLine(line: string): void {
    this.#take(`${this.#own(line)}\n`);
    this.#taken = 0;
  }

  /** The block is over. Returns whether it showed anything. */
  end(): boolean {
    return this.#text.end();
  }

  /** What it shows beyond what was handed on, if it ended with this line. */
  rest(line: string): GrowingLeaf | undefined {
    const isHidden = this.#code !== undefined && HALF_FENCE.test(line);
    return this.#text.rest(isHidden ? '' : this.#own(line).slice(this.#taken));
  }

  #take(line: string): void {
    this.#text.add(line.slice(this.#taken));
    this.#taken = line.length;
  }

  #isUndecided(line: string): boolean {
    if (this.#code !== undefined) return HALF_FENCE.test(line);
    return line.length < BEGINNING || FENCE.test(line);
  }

  /** The line without the indent of its code block. */
  #own(line: string): string {
    let at = 0;
    while (at < (this.#code?.indent ?? 0) && line[at] === ' ') at += 1;
    return at === 0 ? line : line.slice(at);
  }
}
