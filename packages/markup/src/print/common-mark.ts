import type { Leaf } from '../document.ts';
import { type CommonMarkDialect, printCommonMark } from './common-mark-blocks.ts';
import { ZERO_WIDTH_SPACE } from './invisible.ts';
import { type PrintedPart, RULE } from './lines.ts';

/**
 * Prints GitHub Flavored Markdown for GitHub and Linear: headings, tables, tasks and the language
 * of code are kept. Line breaks are written so that every Markdown renderer shows them, and the
 * only HTML is `<br>` in tables.
 */
export function printGfm(leaves: readonly Leaf[]): PrintedPart {
  return printCommonMark(leaves, GFM);
}

/**
 * Prints the Markdown of a text message in Teams (`textFormat: markdown`). Rules observed here:
 * Teams does not render headings, tables, tasks or rules; HTML is interpreted, and so are
 * underscores within words.
 */
export function printTeams(leaves: readonly Leaf[]): PrintedPart {
  return printCommonMark(leaves, TEAMS);
}

const GFM: CommonMarkDialect = {
  headings: true,
  tasks: true,
  rule: '___',
  longFences: true,
  autolinks: true,
  escape: (text, before) =>
    text
      .replaceAll(EMOJI, `:${ZERO_WIDTH_SPACE}`)
      .replaceAll(/[\\`*_[\]<&~|$:]|(?<=\bwww)\./gi, (sign, at: number, shown: string) =>
        isGfmMarkup(sign, at, shown, before) ? `\\${sign}` : sign,
      ),
  escapeStart: (line) => line.replace(BLOCK_START, '\\$&').replace(NUMBER_START, '$1\\$2'),
};

const TEAMS: CommonMarkDialect = {
  headings: false,
  tasks: false,
  rule: RULE,
  longFences: false,
  autolinks: false,
  escape: (text) =>
    text
      .replaceAll(/[\\`*_[\]{]|~(?=~)|(?<=~)~/g, '\\$&')
      .replaceAll(/&(?=#?\w+;)/g, '&amp;')
      .replaceAll('<', '&lt;'),
  escapeStart: (line) =>
    line
      .replace(/^>/, '&gt;')
      .replace(BLOCK_START, '\\$&')
      .replace(NUMBER_START, '$1\\$2')
      .replace(TABLE_RULE, '$&\\'),
};

/** GitHub and Linear replace such a name with an emoji if they have one. */
const EMOJI = /:(?=(?:[a-z\d_+-]{0,60}[a-z][a-z\d_+-]{0,60}|[+-]1|100|1234):)/gi;

/**
 * A heading, a quote, an item, or a line that would turn the previous line into a heading or table.
 */
const BLOCK_START = /^(?:#(?=#{0,5}(?:\s|$))|>|[-+](?=\s|$)|[-=:](?=[-=:|\s]*$))/;
/**
 * The start of a line that would turn the previous line into a table header, where bars are not
 * escaped.
 */
const TABLE_RULE = /^\|[|\s]*(?=[-:][-:|\s]*$)/;
const NUMBER_START = /^(\d{1,9})([.)])(?=\s|$)/;

function isGfmMarkup(sign: string, at: number, text: string, before: string): boolean {
  const next = text[at + 1] ?? '';
  switch (sign) {
    case '_':
      // Between letters or digits, the character is not a mark.
      return !isWordCharacter(text[at - 1] ?? before) || !isWordCharacter(next);
    case '<':
      return /[A-Za-z/!?]/.test(next);
    case '&':
      return /^&#?\w+;/.test(text.slice(at, at + MAX_REFERENCE));
    case ':':
      return text.startsWith('://', at);
    case '$':
      // GitHub shows the text between two dollar signs as a formula.
      return /\S/.test(next) || /\S/.test(text[at - 1] ?? before);
    default:
      return true;
  }
}

/** The length of the longest character reference, including `&` and `;`. */
const MAX_REFERENCE = 34;

function isWordCharacter(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character);
}
