/**
 * Clients differ in small things. `strict` sees only the marks that every client shows, `loose` also
 * those that some client might show. A text is fine if both see the same.
 */
export type Reading = 'strict' | 'loose';

const WHITE_SPACE = /\s/;
const PUNCTUATION = /[\p{P}$+<=>^`|~]/u;
const INVISIBLE = /\p{Cf}/u;
/** Scripts written without spaces between words; some clients see a word's edge beside them. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const LETTER_OR_DIGIT = /[\p{L}\p{N}\p{M}]/u;
/** Variation selectors and the keycap end an emoji; they are no part of a word. */
const EMOJI_END = /[\ufe0e\ufe0f\u20e3]/;
/** The one invisible character that no client takes for white space or for a word's edge. */
const WORD_JOINER = '\u2060';

/** Whether a mark may have this character outside beside it; undefined is a line's start or end. */
export function isEdge(character: string | undefined, reading: Reading): boolean {
  if (character === undefined || WHITE_SPACE.test(character)) return true;
  if (PUNCTUATION.test(character)) return true;
  if (reading === 'strict' || character === WORD_JOINER) return false;
  if (EMOJI_END.test(character) || UNSPACED.test(character)) return true;
  return !LETTER_OR_DIGIT.test(character);
}

/** Whether a mark may have this character inside beside it. */
export function isInside(character: string | undefined, reading: Reading): boolean {
  if (character === undefined || WHITE_SPACE.test(character) || character === WORD_JOINER) {
    return false;
  }
  return reading === 'loose' || !INVISIBLE.test(character);
}

/** The whole character that starts at this offset of a line. */
export function characterAt(text: string, at: number): string | undefined {
  const code = text.codePointAt(at);
  return code === undefined ? undefined : String.fromCodePoint(code);
}

/** The whole character that ends before this offset of a line. */
export function characterBefore(text: string, at: number): string | undefined {
  const low = text.charCodeAt(at - 1);
  const isLow = low >= 0xdc00 && low <= 0xdfff;
  return at <= 0 ? undefined : characterAt(text, isLow && at > 1 ? at - 2 : at - 1);
}
