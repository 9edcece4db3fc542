import { isUtf8 } from 'node:buffer';
import { detectUnicodeWithoutBom, isStatefulEncoding } from './bare-unicode.ts';
import { findDeclaredEncoding, isPlausibleDeclaredEncoding } from './declared.ts';
import { guessEncoding } from './guess.ts';
import { decodeAs, type Encoding, findEncoding, getEncodingDisplayName } from './labels.ts';
import { computePlausibility } from './plausible.ts';
import { countSequences } from './utf8-sequences.ts';

export { decodeInPieces } from './labels.ts';

/** The encoding detected for some bytes. */
interface DetectedEncoding {
  readonly encoding: Encoding;
  readonly certainty: DecodedText['certainty'];
  /** The bytes without a byte order mark, and without a character truncated by a bounded read. */
  readonly content: Uint8Array;
}

/**
 * Detects the encoding of bytes and decodes them. Equivalent to `decodeText`, but all code is
 * loaded in advance except the detector, which is loaded with the first text that is not Unicode.
 * Used in processes that read documents. Never throws.
 */
export function decodeBytes(bytes: Uint8Array, hints: EncodingHints = {}): DecodedText {
  const { encoding, certainty, content } = detectEncoding(bytes, hints);
  const appended = findAppendedUtf8(content, encoding);
  if (appended !== null) return decodeAppendedText(content, encoding, appended);
  const text = decodeAs(encoding, content, hints.isCut);
  return {
    text,
    encoding,
    certainty,
    replaced: countReplacementCharacters(text, content, encoding),
  };
}

function decodeAppendedText(content: Uint8Array, encoding: Encoding, at: number): DecodedText {
  const head = decodeAs(encoding, content.subarray(0, at));
  const text = `${head}${decodeAs('utf-8', content.subarray(at))}`;
  return {
    text,
    encoding,
    certainty: 'guess',
    replaced: countReplacementCharacters(head, content, encoding),
  };
}

/** Detects the encoding of bytes without decoding all of them. */
export function detectEncoding(bytes: Uint8Array, hints: EncodingHints = {}): DetectedEncoding {
  const marked = detectEncodingByBom(bytes);
  if (marked !== null) return marked;
  const content = hints.isCut === true ? trimIncompleteCharacter(bytes) : bytes;
  return { content, ...detectEncodingWithoutBom(content, hints) };
}

type DetectionResult = Omit<DetectedEncoding, 'content'>;

function detectEncodingWithoutBom(bytes: Uint8Array, hints: EncodingHints): DetectionResult {
  const isValid = isUtf8(bytes);
  if (isValid && !hasUnexpectedControls(bytes)) {
    const utf8: DetectionResult = {
      encoding: 'utf-8',
      certainty: isUnlikelyUtf8(bytes) ? 'guess' : 'sure',
    };
    return detectLegacyLikeUtf8(bytes, hints) ?? utf8;
  }
  if (isStatefulEncoding(bytes)) return detectStatefulEncoding(bytes);
  const unicode = detectUnicodeWithoutBom(bytes);
  if (unicode !== null) {
    return { encoding: unicode.encoding, certainty: unicode.isSure ? 'sure' : 'guess' };
  }
  if (isValid) return { encoding: 'utf-8', certainty: 'sure' };
  return (
    detectDeclaredEncoding(bytes, hints) ??
    detectNearlyUtf8(bytes, hints) ??
    guessUndeclaredEncoding(bytes, hints)
  );
}

/** Decodes bytes written by a person or another program. */
export interface DecodedText {
  /**
   * The text without a byte order mark. The text may contain NULs; the caller decides whether they
   * are allowed.
   */
  readonly text: string;
  readonly encoding: Encoding;
  /** The number of U+FFFD characters in `text` that stand for bytes invalid in this encoding. */
  readonly replaced: number;
  /**
   * `sure`: the file declares the encoding, or there is no doubt. `guess`: the most likely
   * encoding. `none`: no encoding turns these bytes into text, so `text` must not reach a prompt.
   */
  readonly certainty: 'sure' | 'guess' | 'none';
}

/** What is known about the bytes. */
export interface EncodingHints {
  /**
   * The charset declared by a header, a MIME part or a person. The charset is used if it fits the
   * bytes.
   */
  readonly declared?: string | undefined;
  /**
   * Whether the bytes are the beginning of something longer, so that the last character may be
   * incomplete.
   */
  readonly isCut?: boolean;
}

/**
 * Returns a warning about the decoding, as a sentence; null if the bytes are valid and beyond
 * doubt.
 */
export function getDecodingWarning(decoded: DecodedText): string | null {
  const { certainty, encoding, replaced } = decoded;
  if (certainty === 'none') return 'Its encoding is unknown, so it cannot be read as text.';
  const name = getEncodingDisplayName(encoding);
  const lost = replaced === 1 ? '1 character' : `${replaced} characters`;
  const damage = replaced === 0 ? '' : ` ${lost} could not be read and became U+FFFD.`;
  if (certainty === 'guess') {
    return `Its encoding was guessed (${name}), so letters may be wrong; save it as UTF-8 to be sure.${damage}`;
  }
  return replaced === 0 ? null : `It is ${name} with invalid bytes:${damage}`;
}

/**
 * Byte order marks and their encodings. UTF-32 comes first, because UTF-16 begins with the same
 * bytes.
 */
const MARKS: readonly (readonly [mark: readonly number[], encoding: Encoding])[] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xff, 0xfe, 0, 0], 'utf-32le'],
  [[0, 0, 0xfe, 0xff], 'utf-32be'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
  [[0x84, 0x31, 0x95, 0x33], 'gb18030'],
];

function detectEncodingByBom(bytes: Uint8Array): DetectedEncoding | null {
  for (const [mark, encoding] of MARKS) {
    if (!mark.every((byte, at) => bytes[at] === byte)) continue;
    const content = bytes.subarray(mark.length);
    // If other programs appended to the file in UTF-8, the mark no longer applies to the whole
    // file.
    if (!isMostlyReplacementCharacters(content, encoding))
      return { encoding, certainty: 'sure', content };
  }
  return null;
}

/**
 * The declared encoding of text that looks like UTF-8 is used if it is a multi-byte encoding that
 * decodes the bytes just as well.
 */
function detectLegacyLikeUtf8(
  bytes: Uint8Array,
  { declared, isCut = false }: EncodingHints,
): DetectionResult | null {
  const encoding = declared === undefined ? null : findEncoding(declared);
  if (encoding === null || !MULTI_BYTE.has(encoding)) return null;
  const { good } = countSequences(bytes);
  if (good === 0 || good > FEW_SEQUENCES || !isPlausibleDeclaredEncoding(bytes, encoding, isCut))
    return null;
  return { encoding, certainty: 'sure' };
}

/**
 * A word or two in another encoding may be valid UTF-8 by accident, but then the letters are ones
 * that no one writes.
 */
function isUnlikelyUtf8(bytes: Uint8Array): boolean {
  if (bytes.length > A_FEW_WORDS) return false;
  const { good, replacements } = countSequences(bytes);
  if (good === 0 || good > FEW_SEQUENCES || replacements > 0) return false;
  return computePlausibility(decodeAs('utf-8', bytes), 'utf-8') < 0.5;
}

/** The length of such text, in bytes. */
const A_FEW_WORDS = 64;

const MULTI_BYTE: ReadonlySet<Encoding> = new Set([
  'gb18030',
  'big5',
  'shift_jis',
  'euc-jp',
  'euc-kr',
]);
/** More valid UTF-8 sequences than this are not accidental. */
const FEW_SEQUENCES = 6;

function detectStatefulEncoding(bytes: Uint8Array): DetectionResult {
  const encoding = 'iso-2022-jp';
  return { encoding, certainty: isMostlyReplacementCharacters(bytes, encoding) ? 'none' : 'sure' };
}

function detectDeclaredEncoding(bytes: Uint8Array, hints: EncodingHints): DetectionResult | null {
  const { declared, isCut = false } = hints;
  for (const label of [declared, findDeclaredEncoding(bytes)]) {
    const encoding = label === undefined ? null : findEncoding(label);
    if (encoding === null || !isPlausibleDeclaredEncoding(bytes, encoding, isCut)) continue;
    if (encoding === 'windows-1252' && isOfAnotherScript(bytes, isCut)) continue;
    return { encoding, certainty: 'sure' };
  }
  return null;
}

/**
 * Whether text declared as Latin-1 is clearly in another script. Many programs declare Latin-1 for
 * everything they send, and any bytes are valid Latin-1.
 */
function isOfAnotherScript(bytes: Uint8Array, isCut: boolean): boolean {
  const { encoding, isSure } = guessEncoding(bytes, isCut);
  return isSure && OTHER_SCRIPTS.has(encoding);
}

const OTHER_SCRIPTS: ReadonlySet<Encoding> = new Set([
  ...['gb18030', 'big5', 'shift_jis', 'euc-jp', 'euc-kr'],
  ...['windows-1251', 'koi8-r', 'koi8-u', 'ibm866', 'windows-1253', 'iso-8859-7'],
  ...['windows-1255', 'windows-1256', 'windows-874'],
]);

/**
 * UTF-8 in which a few bytes were damaged or written by another program; the rest is decoded as
 * UTF-8.
 */
function detectNearlyUtf8(
  bytes: Uint8Array,
  { isCut = false }: EncodingHints,
): DetectionResult | null {
  const { good, bad } = countSequences(bytes);
  if (good === 0) return null;
  if (good <= bad) return detectHalfUtf8(bytes, isCut);
  const isClear = good >= 4 && good >= 4 * bad;
  const sample = decodeAs('utf-8', bytes.subarray(0, SAMPLE_BYTES), true);
  if (isClear && computePlausibility(sample, 'utf-8') >= 0.55) {
    return { encoding: 'utf-8', certainty: 'sure' };
  }
  // In a word or two of another encoding, more than half may be valid by accident.
  const isAccident = computePlausibility(sample.replaceAll('\uFFFD', ''), 'utf-8') < 0.55;
  if (isAccident && bytes.length <= A_FEW_WORDS) return null;
  const guess = guessEncoding(bytes, isCut);
  return { encoding: guess.isSure ? guess.encoding : 'utf-8', certainty: 'guess' };
}

/**
 * A few words of UTF-8 next to as many in another encoding. Decoded in another Latin encoding, they
 * have symbols within words, whereas bytes that are UTF-8 by accident rarely form letters that
 * people write.
 */
function detectHalfUtf8(bytes: Uint8Array, isCut: boolean): DetectionResult | null {
  const guess = guessEncoding(bytes, isCut);
  if (guess.isSure || !LATIN.has(guess.encoding)) return null;
  const undamaged = decodeAs('utf-8', bytes.subarray(0, SAMPLE_BYTES), true).replaceAll(
    '\uFFFD',
    '',
  );
  if (computePlausibility(undamaged, 'utf-8') < 0.9) return null;
  return { encoding: 'utf-8', certainty: 'guess' };
}

const LATIN: ReadonlySet<Encoding> = new Set([
  ...['windows-1250', 'windows-1252', 'windows-1254', 'windows-1257', 'windows-1258'],
  ...['iso-8859-2', 'iso-8859-15', 'macintosh'],
]);

function guessUndeclaredEncoding(
  bytes: Uint8Array,
  { isCut = false }: EncodingHints,
): DetectionResult {
  const { encoding, isText, isSure } = guessEncoding(bytes, isCut);
  return { encoding, certainty: !isText ? 'none' : isSure ? 'sure' : 'guess' };
}

/**
 * A file in any Unicode encoding may contain U+FFFD itself; only UTF-8 is common enough to check.
 */
function countReplacementCharacters(text: string, bytes: Uint8Array, encoding: Encoding): number {
  let count = 0;
  for (let at = text.indexOf('\uFFFD'); at !== -1; at = text.indexOf('\uFFFD', at + 1)) count += 1;
  if (count === 0 || encoding !== 'utf-8') return count;
  return isUtf8(bytes) ? 0 : Math.max(count - countSequences(bytes).replacements, 1);
}

/** How many bytes of a file are enough to show how it continues. */
const SAMPLE_BYTES = 65_536;

function isMostlyReplacementCharacters(bytes: Uint8Array, encoding: Encoding): boolean {
  const text = decodeAs(encoding, bytes.subarray(0, SAMPLE_BYTES), true);
  const replaced = text.split('\uFFFD').length - 1;
  return replaced > 1 && replaced * 4 > text.length;
}

/**
 * Whether there are control characters that no text file contains but that make up half of UTF-16.
 * Terminal colors and page breaks are common in logs and are ignored.
 */
function hasUnexpectedControls(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 32 && ((PLAIN_CONTROLS >>> byte) & 1) === 0) return true;
  }
  return false;
}

/**
 * A bit mask with one bit for each of backspace, tab, line feed, vertical tab, form feed, carriage
 * return, and substitute, which ends DOS files.
 */
const PLAIN_CONTROLS = [8, 9, 10, 11, 12, 13, 26].reduce((bits, code) => bits | (1 << code), 0);

/** Removes the last character when it is an incomplete UTF-8 sequence. */
function trimIncompleteCharacter(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    if (back >= length) return bytes;
    const shorter = bytes.subarray(0, bytes.length - back);
    return isUtf8(shorter) ? shorter : bytes;
  }
  return bytes;
}

/** Fewer bytes than this are not enough evidence. */
const MIN_BYTES = 8;

/**
 * Returns the offset at which a UTF-16 file continues in UTF-8: PowerShell created it, and a shell
 * or an agent has appended to it since. Decoded as UTF-16 the appended lines would be meaningless
 * ideographs, although all of their bytes are valid. Null if the file does not continue in UTF-8.
 */
function findAppendedUtf8(content: Uint8Array, encoding: Encoding): number | null {
  if (encoding !== 'utf-16le' && encoding !== 'utf-16be') return null;
  // Lines in UTF-16 end with a NUL or have one just before their end.
  const after = content.lastIndexOf(0) + 1;
  const start = after + (after % 2);
  const tail = content.subarray(start);
  if (start === 0 || tail.length < MIN_BYTES || !isUtf8(tail)) return null;
  const text = decodeAs('utf-8', tail);
  const ascii = text.match(/[\n\r\t -~]/g)?.length ?? 0;
  const isProse = ascii * 2 > text.length && /[ \n]/.test(text);
  if (!isProse || computePlausibility(text, 'utf-8') < 0.9) return null;
  return computePlausibility(decodeAs(encoding, tail), encoding) < 0.7 ? start : null;
}
