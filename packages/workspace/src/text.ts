import { formatCount } from '@parley/core';
/**
 * True if a Markdown text is still without content: HTML comments, headings, rules and list items
 * without a value (`- **Name:**`) make up an empty form. An empty form costs no tokens.
 */
export function isBlank(text: string): boolean {
  return stripComments(text)
    .split('\n')
    .every((line) => EMPTY_LINE.test(line.trim()));
}

/**
 * Matches an empty line; a heading; a rule; a list item that is empty or only a label with its
 * colon.
 */
const EMPTY_LINE = /^(?:|#{1,6}|#{1,6}\s.*|-{3,}|[-*+]|[-*+] [*_]{0,3}[^:*_`]{1,60}:[*_]{0,3})$/;

/**
 * Treats a comment that is never closed as text. Does not use a regular expression, which would
 * take quadratic time.
 */
function stripComments(text: string): string {
  let rest = text;
  let kept = '';
  for (;;) {
    const start = rest.indexOf('<!--');
    const end = start === -1 ? -1 : rest.indexOf('-->', start + 4);
    if (end === -1) return kept + rest;
    kept += rest.slice(0, start);
    rest = rest.slice(end + 3);
  }
}

/** The limits for truncating a text, in characters (UTF-16 units). */
export interface TextTruncation {
  readonly shown: number;
  readonly total: number;
}

/**
 * Truncates a text to at most `limit` characters and adds a notice with its full length (P10),
 * which does not count towards the limit. `what` names the text in the notice.
 */
export function truncateText(
  text: string,
  limit: number,
  what: string,
): { readonly text: string; readonly cut: TextTruncation | null } {
  if (text.length <= limit) return { text, cut: null };
  const shown = truncateAtCharacter(text, limit);
  const cut = { shown: shown.length, total: text.length };
  const notice = `[Cut: the first ${formatCount(cut.shown)} of ${formatCount(cut.total)} characters of ${what} are shown.]`;
  return { text: `${shown}\n\n${notice}`, cut };
}

/** Returns the first `limit` characters, or one fewer if that would split a surrogate pair. */
function truncateAtCharacter(text: string, limit: number): string {
  const last = text.charCodeAt(limit - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splitsPair ? limit - 1 : limit);
}

/**
 * Returns the start of a text without line breaks: at most `limit` characters, ending with a
 * sentence, or else a clause or a word, if one ends in the second half. The cut works in any script
 * and never splits a character as people see it.
 */
export function shortenAtClause(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const near = text.slice(0, limit + 64);
  const boundary = (granularity: 'sentence' | 'grapheme', at: number) =>
    new Intl.Segmenter('und', { granularity }).segment(near).containing(at)?.index ?? 0;
  const ends = [
    boundary('sentence', limit),
    findClauseEnd(near, limit),
    near.lastIndexOf(' ', limit),
  ];
  const end = ends.find((at) => at * 2 >= limit) ?? limit;
  return near.slice(0, boundary('grapheme', end)).trimEnd();
}

/** Latin punctuation also occurs in numbers and addresses, so it must be followed by a space. */
const CLAUSE_END = /\p{Terminal_Punctuation}(?=\s)|(?!\p{ASCII})\p{Terminal_Punctuation}|…/gu;

function findClauseEnd(text: string, limit: number): number {
  const ends = Array.from(text.matchAll(CLAUSE_END), ({ index }) => index + 1);
  return ends.findLast((end) => end <= limit) ?? 0;
}

/**
 * Characters up to this one (Latin, IPA) take about a quarter of a token, and all others about one
 * token.
 */
const LAST_LATIN = 0x24f;

/** Estimates a text's tokens without a tokenizer: for limits and reports, never for billing. */
export function estimateTokens(text: string): number {
  return Math.ceil(estimateQuarterTokens(text) / 4);
}

/**
 * Matches all characters above `LAST_LATIN`; V8 answers immediately for text that is stored with
 * one byte per character.
 */
const BEYOND_LATIN = /[\u0250-\uffff]/;

/** Estimates tokens in quarters, which add up exactly when texts are concatenated. */
export function estimateQuarterTokens(text: string): number {
  if (!BEYOND_LATIN.test(text)) return text.length;
  let quarters = text.length;
  let isHigh = false;
  // The loop reads code units, because iterating over characters costs ten times as much.
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit <= LAST_LATIN) {
      isHigh = false;
      continue;
    }
    const isSecondHalf = isHigh && (unit & 0xfc00) === 0xdc00;
    quarters += isSecondHalf ? -1 : 3;
    isHigh = (unit & 0xfc00) === 0xd800;
  }
  return quarters;
}
