/** A value that a model wrote, or the position at which the text becomes invalid. */
export type JsonParseResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/** A value at the beginning of some text; `end` is the index at which the remaining text begins. */
export type JsonValueParseResult =
  | { readonly ok: true; readonly value: unknown; readonly end: number }
  | { readonly ok: false; readonly problem: string };

/** The deepest nesting of lists and objects. */
const MAX_DEPTH = 100;
/** How much text around a mistake is quoted, in characters. */
const SHOWN = 30;

/**
 * Parses JSON as weak models write it: with comments, trailing commas, single or curly quotes,
 * unquoted names, Python literals, line breaks within strings, a code fence around it, and missing
 * brackets at the end. No content is guessed: a string or number that is cut off is an error. Valid
 * JSON is parsed with `JSON.parse`.
 */
export function parseLenientJson(text: string): JsonParseResult {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    // Otherwise the lenient parser finds what is wrong, and where.
  }
  const body = stripFence(text).trim();
  const read = parseJsonValue(body);
  if (!read.ok) return read;
  const rest = body.slice(read.end).replace(/^(?:\s|[}\]);]|<[|｜][^\s<>]{1,40}[|｜]>|<\/s>)+/, '');
  if (rest === '') return { ok: true, value: read.value };
  // Some servers send the arguments of a call twice in a row.
  const again = parseLenientJson(rest);
  const isSame = again.ok && JSON.stringify(again.value) === JSON.stringify(read.value);
  if (isSame) return { ok: true, value: read.value };
  return { ok: false, problem: `something follows the end of the JSON: ${quoteBeginning(rest)}` };
}

/** Parses the value at the beginning of a text. */
export function parseJsonValue(text: string): JsonValueParseResult {
  const reader = new JsonReader(text);
  try {
    const value = reader.value(0);
    return { ok: true, value, end: reader.at };
  } catch (error) {
    if (error instanceof JsonSyntaxError) return { ok: false, problem: error.message };
    throw error;
  }
}

function stripFence(text: string): string {
  const [, body] =
    /^\s*(?:`{3,}|~{3,})[\w-]*[ \t]*\n([\s\S]*?)\n?[ \t]*(?:`{3,}|~{3,})\s*$/.exec(text) ?? [];
  // Text around a single code fence adds nothing to the content of the fence.
  const [, framed] = /^[^{[`]*`{3,}[\w-]*[ \t]*\n([^`]*)\n[ \t]*`{3,}[^{[`]*$/.exec(text) ?? [];
  const [, inline] = /^\s*`([^`\n]+)`\s*$/.exec(text) ?? [];
  return body ?? framed ?? inline ?? text;
}

class JsonSyntaxError extends Error {}

function quoteBeginning(text: string): string {
  const piece = text.slice(0, SHOWN).toWellFormed();
  return JSON.stringify(text.length > SHOWN ? `${piece}…` : piece);
}

const WORDS: Readonly<Record<string, unknown>> = {
  true: true,
  True: true,
  TRUE: true,
  false: false,
  False: false,
  FALSE: false,
  null: null,
  None: null,
  NULL: null,
  undefined: null,
};

const QUOTES: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '“': '”',
  '‘': '’',
  '`': '`',
};

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
};

/** Parses one value from left to right. */
class JsonReader {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  value(depth: number): unknown {
    if (depth > MAX_DEPTH) throw new JsonSyntaxError('it is nested too deep');
    this.skip();
    const sign = this.text[this.at];
    if (sign === '{') return this.object(depth);
    if (sign === '[') return this.list(depth);
    if (sign !== undefined && QUOTES[sign] !== undefined) return this.string();
    return this.word();
  }

  /** Skips whitespace and comments. */
  private skip(): void {
    const blank = /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|#[^\n]*/y;
    blank.lastIndex = this.at;
    while (blank.test(this.text)) this.at = blank.lastIndex;
  }

  private object(depth: number): unknown {
    this.at += 1;
    const entries: [string, unknown][] = [];
    for (;;) {
      this.skip();
      if (this.ends('}')) return Object.fromEntries(entries);
      const key = this.key();
      this.skip();
      if (this.text[this.at] !== ':') {
        throw new JsonSyntaxError(
          `a colon is missing after ${JSON.stringify(key)}, before ${this.next()}`,
        );
      }
      this.at += 1;
      entries.push([key, this.value(depth + 1)]);
      this.comma('}');
    }
  }

  private list(depth: number): unknown {
    this.at += 1;
    const items: unknown[] = [];
    for (;;) {
      this.skip();
      if (this.ends(']')) return items;
      items.push(this.value(depth + 1));
      this.comma(']');
    }
  }

  /**
   * Whether a list or an object ends at this position: with its bracket, or because the text has
   * ended.
   */
  private ends(bracket: string): boolean {
    if (this.at >= this.text.length) return true;
    if (this.text[this.at] !== bracket) return false;
    this.at += 1;
    return true;
  }

  private comma(bracket: string): void {
    this.skip();
    const sign = this.text[this.at];
    if (sign === ',') {
      this.at += 1;
      return;
    }
    if (sign === undefined) {
      // A number at the end may be incomplete; if only brackets are missing, no content is lost.
      if (/[\d.eE+-]$/.test(this.text.trimEnd()))
        throw new JsonSyntaxError('it stops in the middle, after a number');
      return;
    }
    if (sign !== bracket)
      throw new JsonSyntaxError(`a comma or ${bracket} is missing before ${this.next()}`);
  }

  private key(): string {
    const sign = this.text[this.at] ?? '';
    if (QUOTES[sign] !== undefined) return this.string();
    const name = /[\p{L}_$][\p{L}\p{N}_$.-]*/uy;
    name.lastIndex = this.at;
    const [found] = name.exec(this.text) ?? [];
    if (found === undefined) throw new JsonSyntaxError(`a name is missing before ${this.next()}`);
    this.at += found.length;
    return found;
  }

  private string(): string {
    const quote = QUOTES[this.text[this.at] ?? ''];
    this.at += 1;
    let out = '';
    for (; this.at < this.text.length; this.at += 1) {
      const sign = this.text[this.at] ?? '';
      if (sign === quote) {
        this.at += 1;
        return out;
      }
      out += sign === '\\' ? this.escape() : sign;
    }
    throw new JsonSyntaxError(`it stops in the middle of the text ${quoteBeginning(out)}`);
  }

  /**
   * Returns the character that an escape denotes; a backslash before any other character denotes
   * that character.
   */
  private escape(): string {
    this.at += 1;
    const sign = this.text[this.at] ?? '';
    if (sign !== 'u') return ESCAPES[sign] ?? sign;
    const code = this.text.slice(this.at + 1, this.at + 5);
    if (!/^[\da-f]{4}$/i.test(code)) throw new JsonSyntaxError(`\\u${code} is not a character`);
    this.at += 4;
    return String.fromCharCode(Number.parseInt(code, 16));
  }

  private word(): unknown {
    const word = /[+-]?(?:\d[\d_]*(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?(?![\w.])|[a-z]+(?![\w.])/iy;
    word.lastIndex = this.at;
    const [found] = word.exec(this.text) ?? [];
    if (found === undefined) throw new JsonSyntaxError(`no value can be read at ${this.next()}`);
    if (/^[a-z]/i.test(found) && !Object.hasOwn(WORDS, found)) {
      throw new JsonSyntaxError(
        `the word ${JSON.stringify(found)} is not a value; text needs quotes`,
      );
    }
    this.at += found.length;
    return Object.hasOwn(WORDS, found) ? WORDS[found] : Number(found.replaceAll('_', ''));
  }

  private next(): string {
    const rest = this.text.slice(this.at);
    return rest === '' ? 'the end' : quoteBeginning(rest);
  }
}
