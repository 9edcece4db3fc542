import { WORD_JOINER } from './invisible.ts';

const MARKERS = '*_~`';
const WHITE_SPACE = /\s/;
const EDGE = /[\p{P}$+<=>^|]/u;
const INVISIBLE = /\p{Cf}/u;
const WORD = /[\p{L}\p{N}\p{M}]/u;
/**
 * Emoji endings, and letters of scripts without spaces, next to which some clients see a word
 * boundary.
 */
const DOUBTFUL =
  /[\ufe0e\ufe0f\u20e3\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Whether a mark works on every client with this character next to it on the outside. */
export function isSafeOutside(character: string): boolean {
  if (character === '' || WHITE_SPACE.test(character)) return true;
  return EDGE.test(character) && !MARKERS.includes(character);
}

/** Whether a mark works on every client with this character next to it on the inside. */
export function isSafeInside(character: string): boolean {
  return isSafeInsideCode(character) && !MARKERS.includes(character);
}

/**
 * Whether code works on every client with this character next to it on the inside; markers have no
 * meaning in code.
 */
export function isSafeInsideCode(character: string): boolean {
  return canBeInsideMark(character) && !INVISIBLE.test(character);
}

/** Whether some client may see a mark with this character next to it on the outside. */
export function canBeOutsideMark(character: string): boolean {
  if (isAsciiLetter(character)) return false;
  if (character === WORD_JOINER) return false;
  return !WORD.test(character) || DOUBTFUL.test(character);
}

/** Whether some client may see a mark with this character next to it on the inside. */
export function canBeInsideMark(character: string): boolean {
  if (isAsciiLetter(character)) return true;
  return character !== '' && character !== WORD_JOINER && !WHITE_SPACE.test(character);
}

export function isWhiteSpace(character: string): boolean {
  return character.trim() === '';
}

/** A fast check that covers most characters, without Unicode's tables. */
function isAsciiLetter(character: string): boolean {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
}

export function isBetweenWords(character: string): boolean {
  return !WORD.test(character);
}

/** The code point that starts at this offset; empty at the end. */
export function getCharacterAt(text: string, at: number): string {
  const first = text[at] ?? '';
  return isSurrogate(first) ? text.slice(at, at + 2) : first;
}

/** The code point that ends before this offset; empty at the start. */
export function getCharacterBefore(text: string, at: number): string {
  const last = text[at - 1] ?? '';
  return isSurrogate(last) ? text.slice(Math.max(0, at - 2), at) : last;
}

/** Text from the transform is well-formed, so surrogates come in pairs. */
function isSurrogate(character: string): boolean {
  return character >= '\ud800' && character <= '\udfff';
}
