import { toDisplayLine } from './visible-text.ts';

/*
 * Formats literal text, such as names, titles, memories and reasons, inside Parley's own Markdown.
 * Escaping each symbol with a backslash would not be exact, because models use backslashes
 * differently from CommonMark and the parser follows the models. Literal text therefore bypasses
 * the Markdown parser: a symbol that could have a meaning is replaced by a Unicode noncharacter,
 * which is reserved for internal use and has no meaning for parsers. The renderer restores the
 * symbols after parsing.
 */

const FIRST = 0xfdd0;
/**
 * ASCII punctuation, which has as many symbols as there are noncharacters from U+FDD0 to U+FDEF.
 */
const SIGNS = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';
const STAND_INS: ReadonlyMap<string, string> = new Map([
  ...[...SIGNS].map((sign, at): [string, string] => [sign, String.fromCodePoint(FIRST + at)]),
  ['\n', '\u{1fffe}'],
  [' ', '\u{1ffff}'],
  ['\t', '\u{2fffe}'],
]);
const SHOWN: ReadonlyMap<string, string> = new Map(
  [...STAND_INS].map(([sign, standIn]) => [standIn, sign]),
);

const NONCHARACTER = /\p{Noncharacter_Code_Point}/gu;
const LINE_END = /\r\n|[\n\r\u2028\u2029\u0085\v\f]/g;
/**
 * Characters with a meaning in Markdown and in the parser's extensions: markup for emphasis, links,
 * HTML, tables and maths; symbols at the ends of a line, which may begin a list or affect the
 * emphasis around the text; bare addresses; line ends; whitespace that the parser drops. Other
 * symbols are not replaced, so that logs remain readable.
 */
const REPLACED = new RegExp(
  [
    String.raw`[\\${'`'}*_[\]#|<>~&$@\n]`,
    String.raw`(?<=^|\n)[!-/:-@[-${'`'}{-~]|["%'()+/=^{}-](?=\n|$)`,
    String.raw`(?<=(?:^|\n)\d{1,9})[.)]`,
    String.raw`(?<=www)\.|:(?=\/\/)`,
    String.raw`(?<=^|\n)[ \t]+|(?<![ \t])[ \t]+(?=\n|$)`,
  ].join('|'),
  'gi',
);
const STAND_IN = /[\ufdd0-\ufdef\u{1fffe}\u{1ffff}\u{2fffe}]/gu;
const LITERAL = /[\ufdd0-\ufdef\u{1fffe}\u{1ffff}\u{2fffe}]+/u;

/**
 * Encodes text for Markdown so that every renderer shows it exactly. Lines are preserved, even in a
 * heading, a list item or a quotation; platforms drop whitespace at the ends of a message.
 */
export function toLiteralMarkdown(text: string): string {
  return stripNoncharacters(text)
    .replace(LINE_END, '\n')
    .replace(REPLACED, (found) => [...found].map((sign) => STAND_INS.get(sign) ?? sign).join(''));
}

/** Encodes text as one line, for names and reasons that others wrote. */
export function toLiteralLine(text: string): string {
  return toLiteralMarkdown(toDisplayLine(text).replace(/\s+/g, ' ').trim());
}

/**
 * Returns a model's text as Markdown: noncharacters in it are replaced, so that they cannot be
 * mistaken for encoded literal text.
 */
export function stripNoncharacters(text: string): string {
  return text.replace(NONCHARACTER, '\ufffd');
}

/** Whether Markdown contains encoded literal text. */
export function hasLiteralText(markdown: string): boolean {
  return LITERAL.test(markdown);
}

/**
 * Decodes literal text: for a renderer after parsing, and where Markdown itself is shown, to a
 * model or in a list.
 */
export function decodeLiteralText(markdown: string): string {
  return hasLiteralText(markdown)
    ? markdown.replace(STAND_IN, (standIn) => SHOWN.get(standIn) ?? standIn)
    : markdown;
}

/** Splits text into Markdown at even indexes and decoded literal symbols at odd indexes. */
export function splitLiteralText(markdown: string): readonly string[] {
  return markdown
    .split(new RegExp(`(${LITERAL.source})`, 'u'))
    .map((piece, at) => (at % 2 === 0 ? piece : decodeLiteralText(piece)));
}

/** Formats text as inline code in Markdown, between as many backticks as needed. */
export function formatInlineCode(text: string): string {
  const line = toDisplayLine(text);
  const runs = new Set((line.match(/`+/g) ?? []).map(({ length }) => length));
  let length = 1;
  while (runs.has(length)) length += 1;
  const fence = '`'.repeat(length);
  // Markdown removes one space on each side if there is one on both.
  const space = /^`|`$|^ .* $/.test(line) ? ' ' : '';
  return `${fence}${space}${line}${space}${fence}`;
}
