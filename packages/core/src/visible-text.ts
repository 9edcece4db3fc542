import { stripVTControlCharacters } from 'node:util';

/**
 * Matches characters that are invisible or that move other text: control characters, line
 * separators, everything that changes the writing direction, and default-ignorable characters.
 * Joiners stay after the letters and pictures that they join (`👩‍🚀`, Persian, Hindi), and so do
 * the tags of a flag (`🏴󠁧󠁢󠁥󠁮󠁧󠁿`).
 */
const HIDDEN = new RegExp(
  [
    String.raw`[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\ufff9-\ufffb]`,
    String.raw`[[\p{Cf}&&\p{Default_Ignorable_Code_Point}]--[\u200c\u200d\u{e0020}-\u{e007f}]]`,
    String.raw`(?<![[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]--[\p{Script=Latin}\p{ASCII}]])[\u200c\u200d]`,
    String.raw`(?<!\u{1f3f4}[\u{e0020}-\u{e007e}]{0,8})[\u{e0020}-\u{e007f}]`,
  ].join('|'),
  'gv',
);

/**
 * Makes a name, a title or a cell that another person wrote safe to show: one line without hidden
 * characters. The result cannot control a terminal, begin a line, reverse the text around it, or
 * make two names look the same.
 */
export function toDisplayLine(text: string): string {
  return withoutCommands(text)
    .replace(/\r\n|[\t\n\v\f\r\u0085\u2028\u2029]/g, ' ')
    .replace(HIDDEN, '');
}

/**
 * Replaces hidden characters with spaces, one per UTF-16 unit, for places where units are counted.
 */
export function replaceHiddenCharacters(text: string): string {
  return text.replace(HIDDEN, (found) => ' '.repeat(found.length));
}

/**
 * Replaces hidden characters with their escapes, `\u202e`: nothing is lost, nothing takes effect,
 * and JSON keeps its meaning.
 */
export function escapeHiddenCharacters(text: string): string {
  return text.replace(HIDDEN, (found) => found.split('').map(toUnicodeEscape).join(''));
}

function toUnicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * Matches control characters other than tab and `\n`, line ends that are not recognized on every
 * platform, and obsolete or broken format characters.
 */
const UNPRINTABLE =
  /(?![\t\n])\p{Cc}|[\u2028\u2029\u206a-\u206f\ufff9-\ufffb\u{e0001}]|(?<!\u{1f3f4}[\u{e0020}-\u{e007e}]{0,8})[\u{e0020}-\u{e007f}]/gu;

/**
 * Makes text that a model, a page or another person wrote safe to show: its lines are preserved,
 * and so is the writing direction of Arabic or Hebrew text within a line. Terminal commands
 * (`ESC[31m` entirely) are removed, and so are direction overrides, which make text read
 * differently from how it was written, and direction changes that do not end within their line.
 */
export function toDisplayText(text: string): string {
  const printable = withoutCommands(text).replace(UNPRINTABLE, (character) => {
    if (character === '\0') return '\ufffd';
    if (character === '\v' || character === '\f') return ' ';
    return '\r\u0085\u2028\u2029'.includes(character) ? '\n' : '';
  });
  return DIRECTIONS.test(printable) ? printable.replace(/[^\n]+/g, closeBidiControls) : printable;
}

const withoutCommands = (text: string) =>
  text.includes('\u001b') || text.includes('\u009b') ? stripVTControlCharacters(text) : text;

const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/;
const EMBEDDINGS = '\u202a\u202b';
const POP_EMBEDDING = '\u202c';
const OVERRIDES = '\u202d\u202e';
const POP_ISOLATE = '\u2069';

/** Closes all direction changes of a line within it, and removes overrides. */
function closeBidiControls(line: string): string {
  const units = line.split('');
  const open: number[] = [];
  let isolates = 0;
  const kept = new Set<number>();
  const isOpen = (signs: string, at: number | undefined) =>
    at !== undefined && signs.includes(units[at] ?? '');
  const close = (begin: number | undefined, end: number): void => {
    if (begin === undefined || isOpen(OVERRIDES, begin)) return;
    kept.add(begin).add(end);
  };
  for (const [at, sign] of units.entries()) {
    if (sign === POP_EMBEDDING) {
      if (isOpen(EMBEDDINGS + OVERRIDES, open.at(-1))) close(open.pop(), at);
    } else if (sign === POP_ISOLATE) {
      if (isolates === 0) continue;
      // The end of an isolate also ends everything that was opened inside it.
      while (isOpen(EMBEDDINGS + OVERRIDES, open.at(-1))) open.pop();
      isolates -= 1;
      close(open.pop(), at);
    } else if (DIRECTIONS.test(sign)) {
      if (!isOpen(EMBEDDINGS + OVERRIDES, at)) isolates += 1;
      open.push(at);
    }
  }
  return units.filter((sign, at) => kept.has(at) || !DIRECTIONS.test(sign)).join('');
}
