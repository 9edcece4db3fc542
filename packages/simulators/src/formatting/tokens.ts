import type { LinkSpan } from './read-marks.ts';

/** A message in which each token is replaced by its visible text. */
export interface FlattenedMessage {
  readonly text: string;
  readonly links: readonly LinkSpan[];
  /** An invalid token or entity, or a token that notifies people. */
  readonly violations: readonly TokenViolation[];
}

/**
 * `token`: angle brackets or an ampersand that neither belong to a token nor are escaped. `alive`:
 * a mention or the name of an emoji.
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

  /** Adds a link that shows this text, or its URL when there is no text. */
  addLink(url: string, label: string | undefined): void {
    // In the source the line begins with an angle bracket, so a `>` at the start of the link's text
    // does not begin a quote.
    if (/(?:^|\n)$/.test(this.#text) && label?.startsWith('>')) this.#text += '\u2060';
    const from = this.#text.length;
    this.#text += label ?? url;
    const to = this.#text.length;
    this.#links.push({ type: 'link', from, to, url, isBare: label === undefined });
  }

  report(kind: TokenViolation['kind'], text: string): void {
    this.#violations.push({ kind, text });
  }

  end(): FlattenedMessage {
    return { text: this.#text, links: this.#links, violations: this.#violations };
  }
}
