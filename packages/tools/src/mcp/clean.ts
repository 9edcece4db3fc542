/** Control characters, halves of characters, and all that is invisible. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}]/gu;
/** The same without what joins letters and emoji: results are not prompt text. */
const HIDDEN = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;

/**
 * Text of a server for the prompt: one line, nothing invisible, nothing that looks like a tag, at
 * most `limit` characters.
 */
export function cleanLine(text: string, limit: number): string {
  const line = text
    .replace(/[\s\u0085]+/gu, ' ')
    .replace(UNSEEN, '')
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .trim();
  return cutText(line, limit);
}

/** Text of a result: its lines stay, invisible characters go. */
export function cleanLines(text: string): string {
  return text
    .replace(/\r\n?|[\u0085\u2028\u2029]/gu, '\n')
    .replace(HIDDEN, (character) => (character === '\n' || character === '\t' ? character : ''));
}

/** The start of a text with a sign where something is missing; no character is split. */
function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const start = text.slice(0, limit - 1);
  return `${/[\ud800-\udbff]$/.test(start) ? start.slice(0, -1) : start}…`;
}
