import { hasHalfWidthWords } from './half-width.ts';
import type { Encoding } from './labels.ts';

/** Beyond this number, more characters add no information. */
const MAX_CHARACTERS = 2_000;

/**
 * Returns how plausible it is that a person wrote the text, from 0 to 1, judged by its non-ASCII
 * characters: frequent ideographs, letters of one script, no capitals after small letters within a
 * word. Plain ASCII gets 1. `encoding` is the encoding from which the text was decoded, which
 * determines the frequent characters.
 */
export function computePlausibility(text: string, encoding: Encoding): number {
  let sum = 0;
  let count = 0;
  const scripts = new Map<string, number>();
  let before = ' ';
  let ascii = 0;
  const isHalfWidth = encoding === 'shift_jis' && hasHalfWidthWords(text);
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    if (point >= 0x80) {
      const script = findScript(character);
      sum += weighCharacter(character, before, script, { encoding, isHalfWidth });
      count += 1;
      if (script !== null) scripts.set(script, (scripts.get(script) ?? 0) + 1);
      if (count === MAX_CHARACTERS) break;
    } else if (isUnexpectedControl(point)) {
      sum -= 1;
      count += 1;
    } else if (isAsciiLetter(point)) {
      ascii += 1;
      if (isForeignLetter(before)) sum -= 0.3;
    }
    before = character;
  }
  if (count === 0) return 1;
  const latin = scripts.get('Latin') ?? 0;
  return (
    Math.max(0, sum / count) *
    getDominantScriptShare(scripts) *
    computeDensity(latin, ascii) *
    (hasMixedLanguages(text) ? 0.4 : 1)
  );
}

/**
 * Whether the text combines letters that no language combines: Turkish and Lithuanian look
 * Icelandic in Windows-1252, and Czech contains Slovak letters in the wrong one of two tables.
 */
function hasMixedLanguages(text: string): boolean {
  const isIcelandic = /[ðþÐÞ]/.test(text);
  if (isIcelandic && /[üçëàâêîôûñãõ]/i.test(text)) return true;
  return /[řůě]/i.test(text) && /[ľĺŕ]/i.test(text);
}

/**
 * Languages in Latin script use more plain letters than accented ones; bytes of other scripts look
 * as if they had no plain letters.
 */
function computeDensity(latin: number, ascii: number): number {
  return latin >= 8 && latin > ascii ? 0.4 : 1;
}

/**
 * Returns the share of the most frequent script. Ideographs count together with kana and with
 * Hangul.
 */
function getDominantScriptShare(scripts: ReadonlyMap<string, number>): number {
  let all = 0;
  let most = 0;
  const han = scripts.get('Han') ?? 0;
  for (const [script, count] of scripts) {
    all += count;
    most = Math.max(most, script === 'Kana' || script === 'Hangul' ? count + han : count);
  }
  return all === 0 ? 1 : most / all;
}

/** Blocks of letters by their first and last code points, the most frequent ones first. */
const BLOCKS: readonly (readonly [first: number, last: number, script: string])[] = [
  [0x4e00, 0x9fff, 'Han'],
  [0x3041, 0x3096, 'Kana'],
  [0x30a1, 0x30fc, 'Kana'],
  [0x0400, 0x052f, 'Cyrillic'],
  [0xac00, 0xd7a3, 'Hangul'],
  [0x3131, 0x3163, 'Hangul'],
  [0x00c0, 0x024f, 'Latin'],
  [0x1e00, 0x1eff, 'Latin'],
  [0x0370, 0x03ff, 'Greek'],
  [0x05d0, 0x05ea, 'Hebrew'],
  [0x0620, 0x06d3, 'Arabic'],
  [0x0e01, 0x0e46, 'Thai'],
  [0x3400, 0x4dbf, 'Han'],
  [0xf900, 0xfaff, 'Han'],
  [0xff66, 0xff9f, 'Kana'],
  [0x3005, 0x3007, 'Han'],
];

function findScript(character: string): string | null {
  const point = character.codePointAt(0) ?? 0;
  const block = BLOCKS.find(([first, last]) => point >= first && point <= last);
  const isLetter = /^\p{L}/u.test(character) || point === 0x3007;
  return isLetter ? (block?.[2] ?? 'other') : null;
}

function weighCharacter(
  character: string,
  before: string,
  script: string | null,
  { encoding, isHalfWidth }: { encoding: Encoding; isHalfWidth: boolean },
): number {
  switch (script) {
    case 'Han':
      return isFrequentHan(character, encoding) ? 1 : 0.3;
    case 'Kana':
      // Chinese standards include kana, which hardly any Chinese text contains.
      if (encoding === 'gb18030' || encoding === 'big5') return 0.3;
      // Half-width kana are one byte each, so any bytes may look like them.
      if (encoding !== 'shift_jis' || !/[\uff61-\uff9f]/.test(character)) return 1;
      return isHalfWidth ? 1 : 0.6;
    case 'Hangul':
      // Chats use single letters for laughing and crying.
      return /[\u3131-\u3163]/.test(character) || hangul().has(character) ? 1 : 0.3;
    case 'other':
      return isAsciiLetter(before.codePointAt(0) ?? 0) ? 0.1 : 0.8;
    case null:
      return weighSymbol(character, before);
    default:
      return weighLetter(character, before);
  }
}

/**
 * A capital after a small letter, or next to a letter of another script, indicates decoding with
 * the wrong table.
 */
function weighLetter(character: string, before: string): number {
  const isCapital = character !== character.toLowerCase();
  const followsSmall = before !== before.toUpperCase() && /\p{L}/u.test(before);
  if (isCapital && followsSmall) return 0;
  const isLatin = /\p{Script=Latin}/u.test(character);
  if (!isLatin && isAsciiLetter(before.codePointAt(0) ?? 0)) return 0.3;
  return USUAL_LETTERS.test(character) ? 1 : 0.4;
}

/**
 * The letters of widely used languages. Each script has many more letters that hardly any text
 * uses.
 */
const USUAL_LETTERS =
  /^[\u00aa-\u0233\u0386-\u03ce\u0400-\u045f\u0490\u0491\u05d0-\u05ea\u0621-\u06d5\u0e01-\u0e5b\u1e00-\u1eff]$/;

/** Symbols that occur in ordinary text; most others are letters in another table. */
const COMMON_SIGNS =
  /^[€£¥§°«»·¿¡©®™–—‘’“”„‚…•№×±²³½¼¾µ\u00a0\u3000-\u3003\u3005-\u3011\u300e\u300f、。・「」『』！？：；（）【】《》〈〉，．～￥％＋－／＝\u060c\u061b\u061f\u20a9\u20ab\u20ac\u20bd\u20ba\u20b4\ufeff\u200b-\u200f]$/u;

function weighSymbol(character: string, before: string): number {
  if (/^[\p{M}]$/u.test(character)) return /[\p{L}\p{M}]/u.test(before) ? 0.95 : 0.2;
  if (/^[\p{Co}\p{Cn}\p{Cc}\uFFFD]$/u.test(character)) return -1;
  if (/^\p{Extended_Pictographic}$/u.test(character)) return 0.9;
  const followsLetter = /\p{L}/u.test(before);
  if (/^[«»“”„‚‘’…–—€°·™®©²³\u00a0\p{Nd}]$/u.test(character)) return 0.9;
  if (COMMON_SIGNS.test(character))
    return followsLetter && !/[\u3000-\uffff]/.test(character) ? 0.5 : 0.9;
  if (/^[\u2500-\u259f]$/.test(character)) return followsLetter ? 0.1 : 0.6;
  return followsLetter ? 0.2 : 0.5;
}

function isForeignLetter(character: string): boolean {
  return /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Hebrew}\p{Script=Arabic}]/u.test(character);
}

function isAsciiLetter(point: number): boolean {
  return (point >= 0x41 && point <= 0x5a) || (point >= 0x61 && point <= 0x7a);
}

function isUnexpectedControl(point: number): boolean {
  return point < 32 && (point < 8 || (point > 13 && point !== 26 && point !== 27));
}

/** The characters in the first level of a national standard, decoded from their bytes. */
function listStandardCharacters(encoding: Encoding, first: number, last: number, trail: number) {
  let made: ReadonlySet<string> | undefined;
  return (): ReadonlySet<string> => {
    if (made !== undefined) return made;
    const bytes: number[] = [];
    for (let lead = first; lead <= last; lead += 1) {
      for (let second = trail; second <= 0xfe; second += 1) {
        if (second <= 0x7e || second >= 0xa1) bytes.push(lead, second);
      }
    }
    made = new Set(new TextDecoder(encoding).decode(Uint8Array.from(bytes)));
    return made;
  };
}

/** Each set is built once, from a few thousand bytes, when the first text needs it. */
const simplified = listStandardCharacters('gb18030', 0xb0, 0xd7, 0xa1);
const traditional = listStandardCharacters('big5', 0xa4, 0xc6, 0x40);
const japanese = listStandardCharacters('euc-jp', 0xb0, 0xcf, 0xa1);
const hangul = listStandardCharacters('euc-kr', 0xb0, 0xc8, 0xa1);

function isFrequentHan(character: string, encoding: Encoding): boolean {
  switch (encoding) {
    case 'gb18030':
      return simplified().has(character);
    case 'big5':
      return traditional().has(character);
    case 'shift_jis':
    case 'euc-jp':
    case 'iso-2022-jp':
      return /[々〇]/.test(character) || japanese().has(character);
    case 'euc-kr':
      return false;
    default:
      return [simplified, traditional, japanese].some((level) => level().has(character));
  }
}
