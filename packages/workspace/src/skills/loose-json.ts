/** The maximum depth that is parsed; real metadata has four levels. */
const MAX_DEPTH = 20;

/**
 * Parses hand-written JSON as JSON5: keys without quotes, single quotes, trailing commas, comments.
 * Returns undefined if the text is invalid or has trailing content; never throws.
 */
export function parseLooseJson(text: string): unknown {
  const reader = new LooseJsonReader(text);
  try {
    return reader.whole();
  } catch {
    return undefined;
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '0': '\0',
};

class LooseJsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): unknown {
    const value = this.#value(0);
    this.#skipBlanks();
    if (this.#at < this.#text.length) throw new SyntaxError('something follows');
    return value;
  }

  #value(depth: number): unknown {
    this.#skipBlanks();
    if (depth > MAX_DEPTH) throw new SyntaxError('nested too deeply');
    const next = this.#text[this.#at];
    if (next === '{') return this.#object(depth);
    if (next === '[') return this.#list(depth);
    if (next === '"' || next === "'") return this.#quoted(next);
    return this.#word();
  }

  #object(depth: number): object {
    const entries: [string, unknown][] = [];
    this.#at += 1;
    while (!this.#takes('}')) {
      const quote = this.#text[this.#at];
      const isQuoted = quote === '"' || quote === "'";
      const key = isQuoted ? this.#quoted(quote) : this.#match(/[\p{L}_$][\p{L}\p{N}_$-]*/uy);
      if (!this.#takes(':')) throw new SyntaxError('a colon is missing');
      entries.push([key, this.#value(depth + 1)]);
      this.#endOfItem('}');
    }
    return Object.fromEntries(entries);
  }

  #list(depth: number): unknown[] {
    const items: unknown[] = [];
    this.#at += 1;
    while (!this.#takes(']')) {
      items.push(this.#value(depth + 1));
      this.#endOfItem(']');
    }
    return items;
  }

  /** Consumes a comma, or stops at the end of the block. */
  #endOfItem(end: string): void {
    if (this.#takes(',')) return;
    if (this.#text[this.#at] !== end) throw new SyntaxError('a comma is missing');
  }

  #quoted(quote: string): string {
    let value = '';
    for (let at = this.#at + 1; at < this.#text.length; at += 1) {
      const next = this.#text[at] ?? '';
      if (next === quote) {
        this.#at = at + 1;
        return value;
      }
      if (next === '\\') {
        at += 1;
        const code = /^u([0-9a-f]{4})/i.exec(this.#text.slice(at, at + 5))?.[1];
        const escaped = this.#text[at] ?? '';
        if (code !== undefined) at += 4;
        value +=
          code === undefined
            ? (ESCAPES[escaped] ?? (escaped === '\n' ? '' : escaped))
            : String.fromCharCode(Number.parseInt(code, 16));
      } else value += next;
    }
    throw new SyntaxError('a quote is missing');
  }

  #word(): unknown {
    const word = this.#match(/[-+\p{L}\p{N}_.$]+/uy);
    if (word === 'null' || word === 'undefined') return null;
    if (word === 'true' || word === 'false') return word === 'true';
    const number = Number(word);
    return Number.isNaN(number) ? word : number;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) throw new SyntaxError('a value is missing');
    this.#at += found.length;
    return found;
  }

  #takes(character: string): boolean {
    this.#skipBlanks();
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    this.#skipBlanks();
    return true;
  }

  /** Skips whitespace and comments. */
  #skipBlanks(): void {
    const blank = /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\//y;
    blank.lastIndex = this.#at;
    while (blank.test(this.#text)) this.#at = blank.lastIndex;
  }
}
