/** The lexer for Telegram's HTML dialect: references, tags and attributes. */

/** The server's reason, without the prefix "Bad Request: can't parse entities: ". */
export class TelegramHtmlError extends Error {
  override readonly name = 'TelegramHtmlError';
}

const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };
const SPACE = /\s/;

/**
 * Decodes the reference at `at`; an unknown reference stays literal, and the semicolon is optional.
 */
export function decodeReference(html: string, at: number): { text: string; end: number } {
  const match = /^&(?:#x([0-9a-fA-F]*)|#([0-9]*)|([a-zA-Z]*))/.exec(html.slice(at, at + 24));
  const literal = { text: '&', end: at + 1 };
  if (match === null) return literal;
  const [whole, hex, decimal, name] = match;
  const end = at + whole.length;
  const after = html[end] === ';' ? end + 1 : end;
  if (name !== undefined) {
    const character = NAMED[name];
    return character === undefined ? literal : { text: character, end: after };
  }
  const code = hex !== undefined ? Number.parseInt(hex, 16) : Number.parseInt(decimal ?? '', 10);
  const legal =
    code > 0 && code < 0x10ffff && whole.length < 10 && !(code >= 0xd800 && code < 0xe000);
  return legal ? { text: String.fromCodePoint(code), end: after } : literal;
}

/**
 * Reads the start tag whose `<` is at this position. Names are converted to lower case; `end` is
 * the position after the `>`.
 */
export function parseStartTag(
  html: string,
  start: number,
  supported: (tag: string) => boolean,
): { name: string; attributes: Map<string, string>; end: number } {
  let at = start + 1;
  while (at < html.length && !isSpace(html[at]) && html[at] !== '>') at += 1;
  if (at >= html.length)
    failParsing(`Unclosed start tag at byte offset ${getByteOffset(html, start)}`);
  const name = html.slice(start + 1, at).toLowerCase();
  if (!supported(name)) {
    failParsing(`Unsupported start tag "${name}" at byte offset ${getByteOffset(html, start)}`);
  }
  const attributes = new Map<string, string>();
  for (;;) {
    at = skipSpace(html, at);
    if (html[at] === '>') break;
    at = parseAttribute(html, start, at, name, attributes);
  }
  return { name, attributes, end: at + 1 };
}

function parseAttribute(
  html: string,
  start: number,
  from: number,
  tag: string,
  into: Map<string, string>,
): number {
  let at = from;
  while (at < html.length && !/[\s=>/"']/.test(html[at] ?? '')) at += 1;
  const name = html.slice(from, at).toLowerCase();
  if (name === '') {
    failParsing(
      `Empty attribute name in the tag "${tag}" at byte offset ${getByteOffset(html, start)}`,
    );
  }
  at = skipSpace(html, at);
  if (html[at] !== '=') {
    if (at >= html.length)
      failParsing(`Unclosed start tag "${tag}" at byte offset ${getByteOffset(html, start)}`);
    into.set(name, '');
    return at;
  }
  at = skipSpace(html, at + 1);
  if (at >= html.length)
    failParsing(`Unclosed start tag "${tag}" at byte offset ${getByteOffset(html, start)}`);
  const value =
    html[at] === '"' || html[at] === "'"
      ? parseQuotedValue(html, at)
      : parseUnquotedValue(html, at);
  if (value.end >= html.length)
    failParsing(`Unclosed start tag at byte offset ${getByteOffset(html, start)}`);
  into.set(name, value.text);
  return value.end;
}

function parseQuotedValue(html: string, from: number): { text: string; end: number } {
  const quote = html[from];
  let text = '';
  let at = from + 1;
  while (at < html.length && html[at] !== quote) {
    if (html[at] === '&') {
      const reference = decodeReference(html, at);
      text += reference.text;
      at = reference.end;
    } else {
      text += html[at];
      at += 1;
    }
  }
  return { text, end: at < html.length ? at + 1 : at };
}

function parseUnquotedValue(html: string, from: number): { text: string; end: number } {
  let at = from;
  while (/[A-Za-z0-9.-]/.test(html[at] ?? '')) at += 1;
  if (at < html.length && !isSpace(html[at]) && html[at] !== '>') {
    failParsing(`Unexpected end of name token at byte offset ${getByteOffset(html, from)}`);
  }
  return { text: html.slice(from, at).toLowerCase(), end: at };
}

/** Returns the first position at or after `from` that is not white space. */
export function skipSpace(html: string, from: number): number {
  let at = from;
  while (at < html.length && isSpace(html[at])) at += 1;
  return at;
}

/**
 * Whether the dialect treats a character as white space; the end of the text is not white space.
 */
export function isSpace(character: string | undefined): boolean {
  return character !== undefined && SPACE.test(character);
}

/** Converts the offset `at` to UTF-8 bytes, as used in refusals. */
export function getByteOffset(html: string, at: number): number {
  return new TextEncoder().encode(html.slice(0, at)).length;
}

/**
 * Throws the error that refuses the whole text.
 * @throws TelegramHtmlError in every case
 */
export function failParsing(message: string): never {
  throw new TelegramHtmlError(message);
}
