import type { LinkSpan } from './read-marks.ts';

/** A message with its tokens replaced by what people see instead of them. */
export interface Flattened {
  readonly text: string;
  readonly links: readonly LinkSpan[];
  /** What is wrong with tokens and entities, or notifies people. */
  readonly violations: readonly TokenViolation[];
}

/**
 * `token`: angle brackets or an ampersand that are neither a token nor written as text. `alive`: a
 * mention, or the name of an emoji.
 */
export interface TokenViolation {
  readonly kind: 'token' | 'alive';
  readonly text: string;
}

/** Collects the visible text of a message. */
export class Flattener {
  #text = '';
  readonly #links: LinkSpan[] = [];
  readonly #violations: TokenViolation[] = [];

  add(text: string): void {
    this.#text += text;
  }

  /** Adds a link with this text, or with its URL as text. */
  addLink(url: string, label: string | undefined): void {
    // In the message the line begins with a bracket, so the text of a link begins no quote.
    if (/(?:^|\n)$/.test(this.#text) && label?.startsWith('>')) this.#text += '\u2060';
    const from = this.#text.length;
    this.#text += label ?? url;
    const to = this.#text.length;
    this.#links.push({ type: 'link', from, to, url, isBare: label === undefined });
  }

  report(kind: TokenViolation['kind'], text: string): void {
    this.#violations.push({ kind, text });
  }

  end(): Flattened {
    return { text: this.#text, links: this.#links, violations: this.#violations };
  }
}
