import type { FormatRule, Program, Step } from './program.ts';
import { hasSeen, isSeen, isShaping } from './visible.ts';

/** Where characters stand. */
export interface Place {
  readonly quoted: boolean;
  /** A heading may be bold as a whole. */
  readonly heading: boolean;
  /** Formats are not looked at, as in the grid of a table. */
  readonly unformatted: boolean;
}

/** Writes a program step by step. */
export class StepWriter {
  readonly #steps: Step[] = [];
  /** Nothing, or whether a part may begin before the next characters of what must stay whole. */
  #whole: 'start' | 'inside' | undefined;

  /** Text of the source; with `graphemes`, what people see as one character must come whole. */
  text(text: string, formats: FormatRule | undefined, place: Place, graphemes: boolean): void {
    if (!graphemes || isSimple(text)) {
      const characters = [...text].filter((character) => !isShaping(character));
      this.#characters(characters, { formats, place, added: false, whole: false });
      return;
    }
    const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
    for (const { segment } of segmenter.segment(text)) {
      const characters = hasSeen(segment) ? [...segment] : [];
      this.#characters(characters, { formats, place, added: false, whole: true });
    }
  }

  /** What the renderer adds: one of these texts. */
  addition(texts: readonly string[], place: Place): void {
    this.oneOf(
      texts.map((text) => () => {
        this.#characters([...text], { formats: undefined, place, added: true, whole: true });
      }),
    );
  }

  /** Any one of these. */
  oneOf(choices: readonly (() => void)[]): void {
    const fork = this.fork();
    const before = this.#whole;
    const ends = choices.map((choice) => {
      this.#whole = before;
      fork.push(this.here);
      choice();
      return this.fork();
    });
    for (const end of ends) end.push(this.here);
  }

  /** This or nothing. */
  optional(content: () => void): void {
    const fork = this.fork();
    fork.push(this.here);
    this.aside(content);
    fork.push(this.here);
  }

  /** What does not lead to the next steps, so says nothing of where a part may begin in them. */
  aside(content: () => void): void {
    const before = this.#whole;
    content();
    this.#whole = before;
  }

  /** No part may begin in this, only before it. */
  whole(content: () => void): void {
    const outside = this.#whole;
    this.#whole = outside ?? 'start';
    content();
    this.#whole = outside === undefined ? undefined : 'inside';
  }

  /** Goes on only where a part begins, or only where none begins. */
  only(where: 'at-part' | 'within-part'): void {
    this.#steps.push({ op: where });
  }

  /** Ends what was written as quoted. */
  endQuote(): void {
    this.#steps.push({ op: 'quote-end' });
  }

  /** A choice whose targets are still to be told. */
  fork(): number[] {
    const to: number[] = [];
    this.#steps.push({ op: 'fork', to });
    return to;
  }

  /** Where the next step will be. */
  get here(): number {
    return this.#steps.length;
  }

  /** The program, complete. */
  end(): Program {
    this.#steps.push({ op: 'end' });
    return this.#steps;
  }

  #characters(
    all: readonly string[],
    {
      formats,
      place,
      added,
      whole,
    }: { formats: FormatRule | undefined; place: Place; added: boolean; whole: boolean },
  ): void {
    const characters = all.filter(isSeen);
    if (characters.length === 0) return;
    this.#steps.push({
      op: 'characters',
      characters,
      formats: place.unformatted ? undefined : formats,
      added,
      joined: this.#whole === 'inside',
      whole: whole || this.#whole !== undefined,
      quoted: place.quoted,
    });
    if (this.#whole === 'start') this.#whole = 'inside';
  }
}

function isSimple(text: string): boolean {
  return /^[\n\u0020-\u02ff]*$/.test(text);
}
