import type { DialectCapabilities } from '../capabilities.ts';
import { finishLeaf } from '../transform/blocks.ts';
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
interface GrowingBlockOptions {
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

/** A word may become a mention while it grows; beyond this length it does not wait, in UTF-16 units. */
const LONGEST_WORD = 1_000;
/** More than the longest mention whose end decides what it is. */
const UNDECIDED = 64;

/**
 * Text that needs no parser and may have no end: a code block, or what is shown as it is written. It
 * is handed on as soon as what follows cannot change it.
 */
class GrowingText {
  readonly #parts: PartMaker;
  readonly #pings: DialectCapabilities['pings'];
  #leaf: GrowingLeaf;
  /** What was not handed on yet. */
  #held = '';
  #isShown = false;
  #isBegun = false;

  /** @param leaf what the text becomes, without text. */
  constructor(parts: PartMaker, leaf: GrowingLeaf, pings: DialectCapabilities['pings']) {
    this.#parts = parts;
    this.#leaf = leaf;
    this.#pings = pings;
  }

  /** The text goes on. */
  add(text: string): void {
    this.#held += text;
    const isCode = this.#leaf.kind === 'code';
    if (!isCode) this.#endParagraphs();
    const decided = isCode ? this.#held.trimEnd().length : endOfWords(this.#held);
    if (this.#isBegun || this.#held.slice(0, decided).trim() !== '') this.#hand(decided);
  }

  /**
   * The block is over; the line end before what follows is not part of it.
   * @returns whether anything was shown.
   */
  end(): boolean {
    this.#held = withoutLineEnd(this.#held);
    this.#endLeaf();
    return this.#isShown;
  }

  /** What the leaf has beyond what was handed on, if the text ended with `more`. */
  rest(more: string): GrowingLeaf | undefined {
    const text = this.#held + more;
    if (!this.#isBegun && text.trim() === '') return undefined;
    return this.#finished(this.#leaf.kind === 'code' ? withoutLineEnd(text) : text);
  }

  #endParagraphs(): void {
    for (let at = this.#held.indexOf('\n\n'); at >= 0; at = this.#held.indexOf('\n\n')) {
      const after = this.#held.slice(at + 2);
      this.#held = this.#held.slice(0, at);
      this.#endLeaf();
      this.#held = after;
    }
  }

  #endLeaf(): void {
    if (this.#isBegun || this.#held.trim() !== '') this.#hand(this.#held.length);
    this.#parts.endGrowing();
    this.#held = '';
    this.#isBegun = false;
    if (this.#isShown) this.#leaf = { ...this.#leaf, gap: 2 };
  }

  #hand(length: number): void {
    if (length > 0) this.#parts.grow(this.#finished(this.#held.slice(0, length)));
    this.#held = this.#held.slice(length);
    this.#isBegun = true;
    this.#isShown = true;
  }

  #finished(text: string): GrowingLeaf {
    const leaf: GrowingLeaf =
      this.#leaf.kind === 'code'
        ? { ...this.#leaf, text }
        : { ...this.#leaf, runs: [{ text, marks: [] }] };
    const finished = finishLeaf(leaf, this.#pings);
    return finished.kind === 'code' || finished.kind === 'text' ? finished : leaf;
  }
}

function withoutLineEnd(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}

/** Where the last word ends that has a space behind it. */
function endOfWords(text: string): number {
  let at = text.length;
  while (at > 0 && text[at - 1]?.trim() !== '') {
    at -= 1;
    if (text.length - at > LONGEST_WORD) return text.length - UNDECIDED;
  }
  return text.slice(0, at).trimEnd().length;
}
