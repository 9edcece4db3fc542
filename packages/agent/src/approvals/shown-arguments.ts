/**
 * The maximum length of a call that can be shown for approval, in characters as shown. This maximum
 * is slightly larger than the limits of the tools.
 */
export const MAX_SHOWN = 24_000;

/**
 * Strings shorter than this, without quotes and line breaks, stay on the same line as their name.
 */
const INLINE = 80;
/** Longer runs of spaces or line breaks could push text out of sight, so they are escaped. */
const SPACES = 16;
const LINE_ENDS = 3;
/** A letter with more combining marks than this would cover its neighbors. */
const MARKS = 3;

/**
 * Formats the whole call for people and for the record: one line per argument, `name: value`. A
 * longer string follows its name, with a bar before each of its lines. The exact arguments can be
 * parsed back from this text, and every character is visible. Invisible or ambiguous characters are
 * spelled out as `\u{…}`, repeated ones as `\u{20*40}` with their count. No line starts like a
 * Markdown fence.
 */
export function formatArguments(input: unknown): string {
  if (typeof input !== 'object' || input === null)
    return escapeAmbiguousCharacters(JSON.stringify(input));
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  const lines = given.flatMap(([name, value]) => formatArgument(name, value));
  return lines.length === 0 ? '{}' : lines.join('\n');
}

function formatArgument(name: string, value: unknown): readonly string[] {
  const label = /^[a-z_][\w-]*$/i.test(name)
    ? name
    : escapeAmbiguousCharacters(JSON.stringify(name));
  if (typeof value !== 'string')
    return [`${label}: ${escapeAmbiguousCharacters(JSON.stringify(value, null, 2))}`];
  const text = escapeAmbiguousCharacters(value);
  if (!/["\\\n]/.test(value) && text.length <= INLINE) return [`${label}: "${text}"`];
  const lines = text.split('\n').map((line) => (line === '' ? '|' : `| ${line}`));
  return [`${label}:`, ...lines];
}

/**
 * Returns a text whose characters are all visible and distinct, from which the original can be
 * restored.
 */
export function escapeAmbiguousCharacters(text: string): string {
  return text.replace(/\n+|[^\n]+/g, (piece) => {
    if (!piece.startsWith('\n')) return escapeLine(piece);
    return piece.length > LINE_ENDS ? formatCharacterCode('\n', piece.length) : piece;
  });
}

/** Right-to-left letters reverse the display order of their neighbors. */
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** ASCII characters that change the meaning of a text if they are displayed in another order. */
const ORDERED = /[^\s.,!?]/;

function escapeLine(line: string): string {
  const isMixed = RIGHT_TO_LEFT.test(line) && ORDERED.test(line.replace(/[^\p{ASCII}]/gu, ''));
  return line.replace(/ +|[^ ]+/g, (piece, at: number) => {
    if (!piece.startsWith(' ')) return escapeWord(piece, isMixed);
    const isAtEnd = at + piece.length === line.length;
    return isAtEnd || piece.length > SPACES ? formatCharacterCode(' ', piece.length) : piece;
  });
}

function escapeWord(word: string, isMixed: boolean): string {
  const alike = findLookalikeLetters(word);
  let out = '';
  let at = 0;
  let base = '';
  let marks = 0;
  while (at < word.length) {
    const sign = String.fromCodePoint(word.codePointAt(at) ?? 0);
    const end = at + sign.length;
    const isMark = /\p{M}/u.test(sign);
    marks = isMark ? marks + 1 : 0;
    const isHidden =
      isMark && sign !== EMOJI_STYLE
        ? FOREIGN_MARK.test(sign) || marks > MARKS || !OTHER_THAN_ASCII.test(base)
        : isAmbiguousCharacter(sign, base, String.fromCodePoint(word.codePointAt(end) ?? 0));
    const isWrittenOut =
      isHidden ||
      alike.has(at) ||
      (isMixed && RIGHT_TO_LEFT.test(sign)) ||
      // Otherwise literal text could be mistaken for an escape.
      word.startsWith('\\u{', at);
    const count = isWrittenOut ? countRepeats(word, at, sign) : 1;
    out += isWrittenOut ? formatCharacterCode(sign, count) : sign;
    if (!isMark) base = isWrittenOut ? '' : sign;
    at += sign.length * count;
  }
  return out;
}

function countRepeats(word: string, at: number, sign: string): number {
  let end = at;
  while (word.startsWith(sign, end)) end += sign.length;
  return (end - at) / sign.length;
}

/**
 * A combining mark that belongs to no script, which strikes out or covers letters; other marks
 * belong to their letters.
 */
const FOREIGN_MARK =
  /(?![\u064b-\u0655\u0670])[\p{Script=Inherited}\p{Default_Ignorable_Code_Point}]/u;
const OTHER_THAN_ASCII = /(?!\p{ASCII})\p{L}/u;

/** This variation selector after a pictograph only requests display in color. */
const EMOJI_STYLE = '\ufe0f';
/**
 * Characters that display nothing: unassigned, private use, surrogates, control, whitespace,
 * default ignorable, and a few that are drawn blank.
 */
const INVISIBLE =
  /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{13441}-\u{13446}\u{1d159}]/u;
/** Characters that look like ASCII characters used in commands and addresses. */
const LIKE_ASCII =
  /[\u00b4\u01c0\u01c3\u02b9-\u02bf\u02c6\u02c8\u02ca\u02cb\u02d0\u02dc\u02ee\u02f4\u02f8\u055a\u0589\u05c3\u05f3\u05f4\u2010-\u2012\u2018-\u201f\u2024\u2032-\u2037\u2043\u2044\u204e\u2212\u2215\u2216\u2217\u2223\u2236\u223c\u2571\u2572\u2758\u29f5\u29f8\u29f9\ua789\ua78c]/u;
/**
 * Characters that are compatible with an ASCII character but clearly look different: superscripts,
 * subscripts or circled.
 */
const PLAINLY_OTHER =
  /[\u00aa\u00b2\u00b3\u00b9\u00ba\u02b0-\u02b8\u1d2c-\u1d6a\u2070-\u209c\u2460-\u24ff]/;
const EAST_ASIAN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3001-\u3011]/u;

/** Whether a character could be overlooked or confused with another. */
function isAmbiguousCharacter(sign: string, before: string, after: string): boolean {
  if (/\p{ASCII}/u.test(sign)) return /\p{C}/u.test(sign);
  if (sign === EMOJI_STYLE) return !/(?!\p{ASCII})\p{Extended_Pictographic}/u.test(before);
  if (INVISIBLE.test(sign)) return true;
  if (LIKE_ASCII.test(sign)) return !(sign === '\u2019' && isLetter(before) && isLetter(after));
  const plain = sign.normalize('NFKC');
  if (plain === sign || !/^\p{ASCII}$/u.test(plain) || PLAINLY_OTHER.test(sign)) return false;
  // Full-width punctuation is normal in Chinese and Japanese text.
  return !(/[,.:!?()]/.test(plain) && (EAST_ASIAN.test(before) || EAST_ASIAN.test(after)));
}

const isLetter = (sign: string) => /\p{L}/u.test(sign);

/** Letters from the scripts whose letters can pass for Latin ones. */
const OTHER_LETTER =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]/u;
const LATIN = /\p{Script=Latin}/u;
/** Matches words made up of such letters that look Latin as a whole. */
const TWINS = /^[АВЕЅІЈКМНОРСТУХаеорсухіјѕһԁԛԝӏѵьгпΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορικυχօոսցհյ0-9]+$/u;

/**
 * The positions of letters from other scripts that look like Latin ones. Only words that also
 * contain Latin letters are searched and, if the text contains Latin letters, words that look Latin
 * as a whole.
 */
function findLookalikeLetters(text: string): ReadonlySet<number> {
  if (!OTHER_LETTER.test(text) || !LATIN.test(text)) return new Set();
  const words = [...text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)].filter(
    ([word]) => OTHER_LETTER.test(word) && (LATIN.test(word) || TWINS.test(word)),
  );
  const found = words.flatMap(({ 0: word, index }) =>
    [...word.matchAll(new RegExp(OTHER_LETTER, 'gu'))].map((letter) => index + letter.index),
  );
  return new Set(found);
}

/** Formats an escape: `\u{a0}`, or `\u{a0*3}` for three in a row. */
function formatCharacterCode(sign: string, count: number): string {
  const code = (sign.codePointAt(0) ?? 0).toString(16);
  return `\\u{${code}${count === 1 ? '' : `*${count}`}}`;
}
