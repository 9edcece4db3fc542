/** Matches control characters, lone surrogates and all invisible characters. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}]/gu;
/** Excludes the joiners of letters and emoji, because results are not prompt text. */
const HIDDEN = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;

/**
 * Sanitizes text from a server for the prompt: one line of at most `limit` characters, without
 * invisible characters and without anything that looks like a tag.
 */
export function toCleanLine(text: string, limit: number): string {
  const line = text
    .replace(/[\s\u0085]+/gu, ' ')
    .replace(UNSEEN, '')
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .trim();
  return truncateText(line, limit);
}

/** Sanitizes the text of a result: keeps its lines and removes invisible characters. */
export function toCleanLines(text: string): string {
  return text
    .replace(/\r\n?|[\u0085\u2028\u2029]/gu, '\n')
    .replace(HIDDEN, (character) => (character === '\n' || character === '\t' ? character : ''));
}

/** Truncates a text and appends an ellipsis; never splits a character. */
function truncateText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const start = text.slice(0, limit - 1);
  return `${/[\ud800-\udbff]$/.test(start) ? start.slice(0, -1) : start}…`;
}
