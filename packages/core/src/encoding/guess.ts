import { createRequire } from 'node:module';
import type * as Detector from 'jschardet';
import { familiarity } from './familiar.ts';
import { hasHalfWidthWords } from './half-width.ts';
import { decodeAs, type Encoding, encodingOf } from './labels.ts';
import { plausibility } from './plausible.ts';

const require = createRequire(import.meta.url);

/** The most likely encoding of bytes that are no UTF-8 and say nothing about themselves. */
interface Guess {
  readonly encoding: Encoding;
  /** There is enough text, and no other encoding is nearly as likely. */
  readonly isSure: boolean;
  /** False where no encoding makes text of these bytes. */
  readonly isText: boolean;
}

/**
 * The encodings that the detector is asked about: those that Node can decode and files have. Names are the
 * detector's.
 */
const CANDIDATES =
  'gb18030 big5hkscs cp932 euc-jp cp949 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 koi8-r koi8-u cp866 iso8859-2 iso8859-5 iso8859-7 iso8859-15 mac-roman mac-cyrillic cp874'.split(
    ' ',
  );

/** Encodings that files seldom have; others are as likely as the detector says. */
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

/** Added to what the detector says, which is close to nothing for a word or two. */
const FLOOR = 0.004;
/** The factor by which the best one must be more likely to be sure. */
const SURE_FACTOR = 1.8;
/** Characters outside of ASCII that are enough to be sure. */
const SURE_CHARACTERS = 8;
/** Below this a text is none. */
const MIN_PLAUSIBLE = 0.4;

interface Candidate {
  readonly encoding: Encoding;
  readonly text: string;
  readonly plausible: number;
  readonly score: number;
}

/** Guesses the encoding from the lines that have other bytes than ASCII. Loads the detector (a megabyte) once. */
export function guessEncoding(bytes: Uint8Array, isCut: boolean): Guess {
  const sample = sampleOf(bytes);
  if (isBinary(sample)) return { encoding: 'windows-1252', isSure: false, isText: false };
  const isPart = isCut || sample.length < bytes.length;
  // What a crash left between the lines of a log is no letter of any encoding.
  const [best, ...others] = rankEncodings(
    sample.includes(0) ? sample.filter((byte) => byte > 0) : sample,
    isPart,
  );
  if (best === undefined) return { encoding: 'windows-1252', isSure: false, isText: false };
  const next = others.find(({ text }) => text !== best.text);
  const isSure =
    best.plausible >= 0.85 &&
    charactersOf(best.text) >= SURE_CHARACTERS &&
    best.score >= SURE_FACTOR * (next?.score ?? 0);
  return { encoding: best.encoding, isSure, isText: best.plausible >= MIN_PLAUSIBLE };
}

/** Control characters that hardly any text has, but a twelfth of all bytes are; NULs may be what a crash left. */
function isBinary(sample: Uint8Array): boolean {
  let controls = 0;
  for (const byte of sample) {
    if (byte > 0 && byte < 32 && (byte < 7 || byte > 13) && byte !== 26 && byte !== 27)
      controls += 1;
  }
  return controls * 30 > sample.length;
}

function rankEncodings(sample: Uint8Array, isPart: boolean): readonly Candidate[] {
  const confidences = new Map<Encoding, number>([['utf-8', 0]]);
  const { chardet }: typeof Detector = require('jschardet');
  const options = { includeEncodings: CANDIDATES, ignoreThreshold: true };
  const ask = (bytes: Uint8Array, only?: Encoding): void => {
    for (const { encoding, confidence } of chardet.detectAll(bytes, options)) {
      const known = encoding === null ? null : encodingOf(encoding);
      if (known === null || (only !== undefined && known !== only)) continue;
      confidences.set(known, Math.max(confidences.get(known) ?? 0, confidence));
    }
  };
  ask(sample);
  for (const encoding of ALWAYS) {
    if (confidences.has(encoding)) continue;
    confidences.set(encoding, 0);
    const undamaged = validParts(sample, encoding);
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
      const plausible = plausibility(text, encoding);
      const familiar = familiarity(text, encoding);
      const score = (confidence + FLOOR) * (PRIORS[encoding] ?? 1) * plausible ** 3 * familiar;
      return { encoding, text, plausible, score };
    })
    .sort((one, other) => other.score - one.score);
}

/** Tried whatever the detector says, which leaves out what a single damaged byte makes invalid. */
const ALWAYS: readonly Encoding[] = [
  'windows-1252',
  'gb18030',
  'shift_jis',
  'big5',
  'euc-kr',
  'euc-jp',
];

/** The codes of a script's capitals, and their distance to the small letters. */
const CAPITALS: readonly (readonly [Encoding, { first: number; last: number; small: number }])[] = [
  ['windows-1251', { first: 0xc0, last: 0xdf, small: 0x20 }],
  ['koi8-r', { first: 0xe0, last: 0xff, small: -0x20 }],
  ['windows-1253', { first: 0xc1, last: 0xd9, small: 0x20 }],
];

/** A text in capitals as if it were written in small letters, which the detector knows; null: it is no such text. */
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
/** The confidence in Shift-JIS where words in half-width kana are found, which the detector does not know. */
const HALF_WIDTH = 0.1;

/**
 * The characters that are valid in an encoding, which the detector leaves out for a single damaged byte. Looked for
 * between blanks and separators. No byte below the digits is a part of another character in these encodings.
 */
function validParts(bytes: Uint8Array, encoding: Encoding): Uint8Array {
  const parts: Uint8Array[] = [];
  let from = 0;
  for (let at = 0; at <= bytes.length; at += 1) {
    if (at < bytes.length && (bytes[at] ?? 0) >= FIRST_DIGIT) continue;
    const part = bytes.subarray(from, at + 1);
    parts.push(
      decodeStandard(encoding, part).includes('\uFFFD') ? validCharacters(part, encoding) : part,
    );
    from = at + 1;
  }
  return Buffer.concat(parts);
}

const FIRST_DIGIT = 0x30;

/** The characters of a damaged piece that are valid one by one. */
function validCharacters(bytes: Uint8Array, encoding: Encoding): Uint8Array {
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

/** Without the additions of vendors, which the detector does not know. */
function decodeStandard(encoding: Encoding, bytes: Uint8Array): string {
  return new TextDecoder(encoding).decode(bytes);
}

function charactersOf(text: string): number {
  return text.length - (text.match(/[\0-\x7f]/g)?.length ?? 0);
}

/** The part of a file that is examined, in bytes. */
const SAMPLE_BYTES = 16_384;
const LINE_FEED = 0x0a;

/**
 * The lines that have other bytes than ASCII, up to a limit: in a long file they may come late. A line feed is no part
 * of another character in any of these encodings.
 */
function sampleOf(bytes: Uint8Array): Uint8Array {
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
