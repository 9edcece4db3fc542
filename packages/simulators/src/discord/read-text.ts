import type { DiscordNode } from './markdown-node.ts';
import { isSpace, isWord, type Rule } from './markdown-rule.ts';

/** A backslash before anything that is no ASCII letter, digit or white space. */
export const readEscape: Rule = (source, at, { inline, escapes }) => {
  if (!inline || !escapes || source[at] !== '\\' || at + 1 >= source.length) return undefined;
  const character = String.fromCodePoint(source.codePointAt(at + 1) ?? 0);
  if (/[0-9A-Za-z\s]/.test(character)) return undefined;
  const text = character;
  return { end: at + 1 + character.length, nodes: [{ type: 'text', text, escaped: true }] };
};

/** The shrug, which needs no doubled backslash. */
export const readShrug: Rule = (source, at) => {
  const text = '¯\\_(ツ)_/¯';
  if (!source.startsWith(text, at)) return undefined;
  return { end: at + text.length, nodes: [{ type: 'text', text }] };
};

/** Two spaces or more before a line end. */
export const readBreak: Rule = (source, at) => {
  const end = endOfBreak(source, at);
  return end === undefined ? undefined : { end, nodes: [{ type: 'text', text: '\n' }] };
};

function endOfBreak(source: string, at: number): number | undefined {
  if (source[at] !== ' ' || source[at + 1] !== ' ') return undefined;
  let end = at;
  while (source[end] === ' ') end += 1;
  return source[end] === '\n' ? end + 1 : undefined;
}

/** Text up to where another rule might begin, with the emoji in it. */
export const readText: Rule = (source, at) => {
  let end = at + 1;
  // Where the word ends that was looked at last; no place in it begins `word:x`.
  let plainUntil = 0;
  for (; end < source.length && !isStop(source, end); end += 1) {
    if (end < plainUntil || !isWord(source[end])) continue;
    plainUntil = endOfWord(source, end);
    if (source[plainUntil] === ':' && !isSpace(source[plainUntil + 1] ?? ' ')) break;
  }
  return { end, nodes: withEmoji(source.slice(at, end)) };
};

/** Whether text stops here: before signs, empty lines, breaks and `1.`. */
function isStop(source: string, at: number): boolean {
  const character = source[at] ?? '';
  if (character === '\n') return source[at + 1] === '\n';
  if (character === ' ') return endOfBreak(source, at) !== undefined;
  if (/[0-9A-Za-z]/.test(character)) return DIGITS_AND_DOT.test(source.slice(at, at + 12));
  return !isSpace(character) && character < '\u00c0';
}

const DIGITS_AND_DOT = /^\d+\./;

function endOfWord(source: string, at: number): number {
  let end = at;
  while (isWord(source[end])) end += 1;
  return end;
}

/** The client's list of emoji follows Unicode's list of what is meant to be a picture. */
const EMOJI = /(\p{RGI_Emoji})/v;

function withEmoji(text: string): DiscordNode[] {
  return text
    .split(EMOJI)
    .map((part, index): DiscordNode => ({ type: index % 2 === 0 ? 'text' : 'emoji', text: part }))
    .filter((node) => 'text' in node && node.text !== '');
}
