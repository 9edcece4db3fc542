import type { FormatRule, ProgramStep, ReadingProgram } from './program.ts';
import { hasVisibleCharacter, isShaping, isVisible } from './visible.ts';

/** The surroundings of characters in the document. */
export interface CharacterContext {
  readonly quoted: boolean;
  /** Inside a heading, which may be bold as a whole. */
  readonly heading: boolean;
  /** Ignores formatting, as in a table's grid. */
  readonly unformatted: boolean;
}

/** Writes a program step by step. */
export class StepWriter {
  readonly #steps: ProgramStep[] = [];
  /**
   * Whether a part may start before the next characters of a block that must stay whole; undefined
   * elsewhere.
   */
  #whole: 'start' | 'inside' | undefined;

  /** Text from the source; with `graphemes`, grapheme clusters must stay whole. */
  text(
    text: string,
    formats: FormatRule | undefined,
    place: CharacterContext,
    graphemes: boolean,
  ): void {
    if (!graphemes || isSimple(text)) {
      const characters = [...text].filter((character) => !isShaping(character));
      this.#characters(characters, { formats, place, added: false, whole: false });
      return;
    }
    const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
    for (const { segment } of segmenter.segment(text)) {
      const characters = hasVisibleCharacter(segment) ? [...segment] : [];
      this.#characters(characters, { formats, place, added: false, whole: true });
    }
  }

  /** One of these strings, added by the renderer. */
  addition(texts: readonly string[], place: CharacterContext): void {
    this.oneOf(
      texts.map((text) => () => {
        this.#characters([...text], { formats: undefined, place, added: true, whole: true });
      }),
    );
  }

  /** Any one of these alternatives. */
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

  /** The given content or nothing. */
  optional(content: () => void): void {
    const fork = this.fork();
    fork.push(this.here);
    this.aside(content);
    fork.push(this.here);
  }

  /**
   * A branch that does not lead to the next steps, so it does not affect where a part may start in
   * them.
   */
  aside(content: () => void): void {
    const before = this.#whole;
    content();
    this.#whole = before;
  }

  /** A part may start before this content, but not inside it. */
  whole(content: () => void): void {
    const outside = this.#whole;
    this.#whole = outside ?? 'start';
    content();
    this.#whole = outside === undefined ? undefined : 'inside';
  }

  /** Matches only where a part starts, or only where no part starts. */
  only(where: 'at-part' | 'within-part'): void {
    this.#steps.push({ op: where });
  }

  /** Ends a quote. */
  endQuote(): void {
    this.#steps.push({ op: 'quote-end' });
  }

  /** A fork whose targets are set later. */
  fork(): number[] {
    const to: number[] = [];
    this.#steps.push({ op: 'fork', to });
    return to;
  }

  /** The position of the next step. */
  get here(): number {
    return this.#steps.length;
  }

  /** The complete program. */
  end(): ReadingProgram {
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
    }: { formats: FormatRule | undefined; place: CharacterContext; added: boolean; whole: boolean },
  ): void {
    const characters = all.filter(isVisible);
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
