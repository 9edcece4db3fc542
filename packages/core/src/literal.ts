import { toVisibleLine } from './visible-text.ts';

/*
 * Names, titles, memories and reasons inside Parley's own Markdown. A backslash before each symbol
 * would not be exact: models use backslashes differently from CommonMark, and the parser follows
 * the models. Literal text therefore does not pass through the Markdown parser at all: a symbol
 * that could have a meaning is replaced by a Unicode noncharacter, which is reserved for use inside
 * one program and means nothing to any parser. The renderer restores the symbols after parsing.
 */

const FIRST = 0xfdd0;
/** The ASCII punctuation: as many symbols as there are noncharacters from U+FDD0 to U+FDEF. */
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
 * emphasis around the text; bare addresses; line ends; whitespace that it drops. Other symbols
 * stay, so that logs remain readable.
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
 * Puts text into Markdown so that every printer shows exactly it, whatever signs it contains. Lines stay lines, also in
 * a heading, a list item or a quotation; platforms drop white space at the ends of a message.
 */
export function toLiteralMarkdown(text: string): string {
  return stripNoncharacters(text)
    .replace(LINE_END, '\n')
    .replace(REPLACED, (found) => [...found].map((sign) => STAND_INS.get(sign) ?? sign).join(''));
}

/** The same in one line, for names and reasons that others wrote. */
export function toLiteralLine(text: string): string {
  return toLiteralMarkdown(toVisibleLine(text).replace(/\s+/g, ' ').trim());
}

/** Text of a model as Markdown: a noncharacter in it means nothing, and must not be taken for a sign of literal text. */
export function stripNoncharacters(text: string): string {
  return text.replace(NONCHARACTER, '\ufffd');
}

/** Whether Markdown contains signs of literal text. */
export function hasLiteral(markdown: string): boolean {
  return LITERAL.test(markdown);
}

/** Literal text as it was: for a renderer that has parsed, and where Markdown itself is read, by a model or in a list. */
export function restoreLiteral(markdown: string): string {
  return hasLiteral(markdown)
    ? markdown.replace(STAND_IN, (standIn) => SHOWN.get(standIn) ?? standIn)
    : markdown;
}

/** Text cut into what is Markdown, at even places, and signs of literal text, as they are shown, at odd ones. */
export function splitLiteral(markdown: string): readonly string[] {
  return markdown
    .split(new RegExp(`(${LITERAL.source})`, 'u'))
    .map((piece, at) => (at % 2 === 0 ? piece : restoreLiteral(piece)));
}

/** A text as inline code in Markdown, between as many backticks as it needs. */
export function formatInlineCode(text: string): string {
  const line = toVisibleLine(text);
  const runs = new Set((line.match(/`+/g) ?? []).map(({ length }) => length));
  let length = 1;
  while (runs.has(length)) length += 1;
  const fence = '`'.repeat(length);
  // Markdown removes one space on each side if there is one on both.
  const space = /^`|`$|^ .* $/.test(line) ? ' ' : '';
  return `${fence}${space}${line}${space}${fence}`;
}
