import { type Code, type Effects, endsLine } from './syntax.ts';

/** Writes one token of text that may go over several lines; the parser wants each line end as a token. */
export class TextToken {
  readonly #effects: Effects;
  #inLine = false;

  constructor(effects: Effects) {
    this.#effects = effects;
    effects.enter('mathsText');
  }

  consume(code: Code): void {
    if (endsLine(code)) {
      this.#endLine();
      this.#effects.enter('lineEnding');
      this.#effects.consume(code);
      this.#effects.exit('lineEnding');
      return;
    }
    if (!this.#inLine) this.#effects.enter('mathsTextLine');
    this.#inLine = true;
    this.#effects.consume(code);
  }

  end(): void {
    this.#endLine();
    this.#effects.exit('mathsText');
  }

  #endLine(): void {
    if (this.#inLine) this.#effects.exit('mathsTextLine');
    this.#inLine = false;
  }
}
