import { createRequire } from 'node:module';
import type * as Detector from 'jschardet';
import { computeFamiliarity } from './familiar.ts';
import { hasHalfWidthWords } from './half-width.ts';
import { decodeAs, type Encoding, findEncoding } from './labels.ts';
import { computePlausibility } from './plausible.ts';

const require = createRequire(import.meta.url);

/** The most likely encoding of bytes that are not UTF-8 and have no declared encoding. */
interface EncodingGuess {
  readonly encoding: Encoding;
  /** Whether there is enough text and no other encoding is nearly as likely. */
  readonly isSure: boolean;
  /** False if no encoding turns these bytes into text. */
  readonly isText: boolean;
}

/**
 * The encodings among which the detector chooses: those that Node can decode and that occur in
 * files. The detector defines the names.
 */
const CANDIDATES =
  'gb18030 big5hkscs cp932 euc-jp cp949 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 koi8-r koi8-u cp866 iso8859-2 iso8859-5 iso8859-7 iso8859-15 mac-roman mac-cyrillic cp874'.split(
    ' ',
  );

/** Encodings that occur rarely in files; all others are as likely as the detector reports. */
const PRIORS: Readonly<Record<Encoding, number>> = {
  'utf-8': 4,
  gb18030: 1.2,
  'windows-1252': 1.3,
  'windows-1251': 1.2,
  shift_jis: 1.2,
  'iso-8859-2': 0.9,
  'iso-8859-5': 0.3,
  'iso-8859-7': 0.8,
  'iso-8859-15': 0.8,
  'koi8-u': 0.95,
  ibm866: 0.7,
  macintosh: 0.4,
  'x-mac-cyrillic': 0.2,
  'windows-1258': 0.7,
};

/** Added to the detector's score, which is almost zero for a word or two. */
const FLOOR = 0.004;
/** How many times more likely the best encoding must be than the second-best to count as sure. */
const SURE_FACTOR = 1.8;
/** The number of non-ASCII characters that suffices to be sure. */
const SURE_CHARACTERS = 8;
/** Bytes whose plausibility is below this are not text. */
const MIN_PLAUSIBLE = 0.4;

interface EncodingCandidate {
  readonly encoding: Encoding;
  readonly text: string;
  readonly plausible: number;
  readonly score: number;
}

/**
 * Guesses the encoding from the lines with non-ASCII bytes. The detector (a megabyte) is loaded
 * once.
 */
export function guessEncoding(bytes: Uint8Array, isCut: boolean): EncodingGuess {
  const sample = sampleNonAsciiLines(bytes);
  if (isBinary(sample)) return { encoding: 'windows-1252', isSure: false, isText: false };
  const isPart = isCut || sample.length < bytes.length;
  // Bytes that a crash left between the lines of a log are not letters in any encoding.
  const [best, ...others] = rankEncodings(
    sample.includes(0) ? sample.filter((byte) => byte > 0) : sample,
    isPart,
  );
  if (best === undefined) return { encoding: 'windows-1252', isSure: false, isText: false };
  const next = others.find(({ text }) => text !== best.text);
  const isSure =
    best.plausible >= 0.85 &&
    countDistinctCharacters(best.text) >= SURE_CHARACTERS &&
    best.score >= SURE_FACTOR * (next?.score ?? 0);
  return { encoding: best.encoding, isSure, isText: best.plausible >= MIN_PLAUSIBLE };
}

/**
 * Whether a twelfth of all bytes are control characters that text rarely contains. NULs are not
 * counted, because a crash may have left them.
 */
function isBinary(sample: Uint8Array): boolean {
  let controls = 0;
  for (const byte of sample) {
    if (byte > 0 && byte < 32 && (byte < 7 || byte > 13) && byte !== 26 && byte !== 27)
      controls += 1;
  }
  return controls * 30 > sample.length;
}

function rankEncodings(sample: Uint8Array, isPart: boolean): readonly EncodingCandidate[] {
  const confidences = new Map<Encoding, number>([['utf-8', 0]]);
  const { chardet }: typeof Detector = require('jschardet');
  const options = { includeEncodings: CANDIDATES, ignoreThreshold: true };
  const ask = (bytes: Uint8Array, only?: Encoding): void => {
    for (const { encoding, confidence } of chardet.detectAll(bytes, options)) {
      const known = encoding === null ? null : findEncoding(encoding);
      if (known === null || (only !== undefined && known !== only)) continue;
      confidences.set(known, Math.max(confidences.get(known) ?? 0, confidence));
    }
  };
  ask(sample);
  for (const encoding of ALWAYS) {
    if (confidences.has(encoding)) continue;
    confidences.set(encoding, 0);
    const undamaged = extractValidText(sample, encoding);
    if (undamaged.length * 2 > sample.length) ask(undamaged, encoding);
  }
  if (hasHalfWidthWords(decodeAs('shift_jis', sample, true))) {
    confidences.set('shift_jis', Math.max(confidences.get('shift_jis') ?? 0, HALF_WIDTH));
  }
  for (const [encoding, capitals] of CAPITALS) {
    const small = toLowerCaseLetters(sample, encoding, capitals);
    if (small !== null) ask(small, encoding);
  }
  return [...confidences]
    .map(([encoding, confidence]) => {
      const text = decodeAs(encoding, sample, isPart);
      const plausible = computePlausibility(text, encoding);
      const familiar = computeFamiliarity(text, encoding);
      const score = (confidence + FLOOR) * (PRIORS[encoding] ?? 1) * plausible ** 3 * familiar;
      return { encoding, text, plausible, score };
    })
    .sort((one, other) => other.score - one.score);
}

/**
 * This encoding is tried regardless of the detector's result, because the detector excludes
 * encodings in which a single damaged byte is invalid.
 */
const ALWAYS: readonly Encoding[] = [
  'windows-1252',
  'gb18030',
  'shift_jis',
  'big5',
  'euc-kr',
  'euc-jp',
];

/** The codes of a script's capital letters, and their distance to the small letters. */
const CAPITALS: readonly (readonly [Encoding, { first: number; last: number; small: number }])[] = [
  ['windows-1251', { first: 0xc0, last: 0xdf, small: 0x20 }],
  ['koi8-r', { first: 0xe0, last: 0xff, small: -0x20 }],
  ['windows-1253', { first: 0xc1, last: 0xd9, small: 0x20 }],
];

/**
 * Converts text in capitals to small letters, which the detector recognizes; null if the text is
 * not in capitals.
 */
function toLowerCaseLetters(
  sample: Uint8Array,
  encoding: Encoding,
  { first, last, small }: { first: number; last: number; small: number },
): Uint8Array | null {
  const text = decodeAs(encoding, sample);
  const capitals = text.match(/(?=[^A-Z])\p{Lu}/gu)?.length ?? 0;
  const others = text.match(/(?=[^\0-\x7f])\p{Ll}/gu)?.length ?? 0;
  if (capitals < MIN_CAPITALS || others * 10 > capitals) return null;
  return sample.map((byte) => (byte >= first && byte <= last ? byte + small : byte));
}

const MIN_CAPITALS = 4;
/**
 * The confidence in Shift-JIS when words in half-width kana are found, which the detector does not
 * recognize.
 */
const HALF_WIDTH = 0.1;

/**
 * The valid characters of an encoding that the detector excluded because of a single damaged byte.
 * Each piece between spaces and separators is examined separately. In these encodings, no byte
 * below the digits is part of another character.
 */
function extractValidText(bytes: Uint8Array, encoding: Encoding): Uint8Array {
  const parts: Uint8Array[] = [];
  let from = 0;
  for (let at = 0; at <= bytes.length; at += 1) {
    if (at < bytes.length && (bytes[at] ?? 0) >= FIRST_DIGIT) continue;
    const part = bytes.subarray(from, at + 1);
    parts.push(
      decodeStandard(encoding, part).includes('\uFFFD')
        ? extractValidCharacters(part, encoding)
        : part,
    );
    from = at + 1;
  }
  return Buffer.concat(parts);
}

const FIRST_DIGIT = 0x30;

/** Returns the characters of a damaged piece that are valid on their own. */
function extractValidCharacters(bytes: Uint8Array, encoding: Encoding): Uint8Array {
  const valid: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = [1, 2, 3, 4].find((size) => {
      const text = decodeStandard(encoding, bytes.subarray(at, at + size));
      return at + size <= bytes.length && !text.includes('\uFFFD') && [...text].length === 1;
    });
    if (length !== undefined) valid.push(...bytes.subarray(at, at + length));
    at += length ?? 1;
  }
  return Uint8Array.from(valid);
}

/** Decodes without vendor extensions, which the detector does not support. */
function decodeStandard(encoding: Encoding, bytes: Uint8Array): string {
  return new TextDecoder(encoding).decode(bytes);
}

function countDistinctCharacters(text: string): number {
  return text.length - (text.match(/[\0-\x7f]/g)?.length ?? 0);
}

/** The number of bytes of a file that are examined. */
const SAMPLE_BYTES = 16_384;
const LINE_FEED = 0x0a;

/**
 * Returns the lines with non-ASCII bytes, up to a limit; in a long file they may come late. In none
 * of these encodings is a line feed part of another character.
 */
function sampleNonAsciiLines(bytes: Uint8Array): Uint8Array {
  if (bytes.length <= SAMPLE_BYTES) return bytes;
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let at = 0; at < bytes.length && length < SAMPLE_BYTES; ) {
    const end = bytes.indexOf(LINE_FEED, at);
    const next = end === -1 ? bytes.length : end + 1;
    const line = bytes.subarray(at, Math.min(next, at + SAMPLE_BYTES - length));
    if (line.some((byte) => byte >= 0x80)) {
      parts.push(line);
      length += line.length;
    }
    at = next;
  }
  return Buffer.concat(parts);
}
