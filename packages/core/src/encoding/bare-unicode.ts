import { decodeAs, type Encoding } from './labels.ts';
import { computePlausibility } from './plausible.ts';

/** The number of bytes of a file that are examined. */
const SAMPLE_BYTES = 32_768;

/**
 * Whether bytes switch between character sets with escape sequences, as Japanese mail does
 * (ISO-2022). Escape sequences that color terminal output have another form.
 */
export function isStatefulEncoding(bytes: Uint8Array): boolean {
  if (!bytes.includes(0x1b)) return false;
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: These sequences begin with one.
  return /\x1b(?:\$[@AB]|\$\([CD]|\$\)[ACEG]|\([IJ])/.test(start) && !/[\x80-\xff]/.test(start);
}

/**
 * Detects UTF-16 or UTF-32 without a byte order mark; null when the bytes are neither. Both are
 * recognized by properties that only they have: text in which every second byte is NUL, or text
 * that makes sense in no other encoding.
 */
export function detectUnicodeWithoutBom(
  bytes: Uint8Array,
): { readonly encoding: Encoding; readonly isSure: boolean } | null {
  if (bytes.length < 4) return null;
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const nuls = countNuls(sample);
  const wide = UTF_32.find(
    (encoding) => nuls.all * 3 > sample.length && canDecodeToText(sample, encoding, 0.8),
  );
  if (wide !== undefined) return { encoding: wide, isSure: true };
  // Half of the bytes of Latin, Greek, Cyrillic, Hebrew and Arabic text are control characters.
  // Without control characters a few words are not enough evidence.
  const hasEvidence = (nuls.all + nuls.controls) * 4 >= sample.length;
  if (nuls.all === 0 && bytes.length % 2 === 1) return null;
  if (!hasEvidence && bytes.length < MIN_BYTES) return null;
  // NULs are the high bytes of Latin letters. Equal numbers of NULs at even and odd offsets mean
  // something else, such as a log after a crash.
  const isOneSided = Math.min(nuls.even, nuls.odd) * 3 <= nuls.all;
  if (!isOneSided) return null;
  const order = nuls.even > nuls.odd ? UTF_16.toReversed() : UTF_16;
  const candidates = nuls.all * 20 > sample.length ? order.slice(0, 1) : order;
  const least = nuls.all * 20 > sample.length ? 0.7 : 0.95;
  const encoding =
    candidates.find((one) => canDecodeToText(sample, one, least)) ??
    (hasEvidence ? candidates.slice(0, 1).find((one) => isDamagedAscii(sample, one)) : undefined);
  if (encoding === undefined) return null;
  return { encoding, isSure: hasEvidence || nuls.all > 0 || bytes.length >= SURE_BYTES };
}

const MIN_BYTES = 16;
const SURE_BYTES = 48;
const UTF_32 = ['utf-32le', 'utf-32be'] as const;
const UTF_16 = ['utf-16le', 'utf-16be'] as const;

/** Counts NULs at even and odd offsets, and other control characters. */
function countNuls(bytes: Uint8Array): Record<'even' | 'odd' | 'all' | 'controls', number> {
  const counts = { even: 0, odd: 0, all: 0, controls: 0 };
  for (const [at, byte] of bytes.entries()) {
    if (byte > 0 && byte < 9) counts.controls += 1;
    if (byte !== 0) continue;
    counts.all += 1;
    counts[at % 2 === 0 ? 'even' : 'odd'] += 1;
  }
  return counts;
}

/** Whether the text is ASCII except for a few characters that result from damaged bytes. */
function isDamagedAscii(bytes: Uint8Array, encoding: Encoding): boolean {
  const text = decodeAs(encoding, bytes, true);
  const plain = text.match(/[\t\n\r -~]/g)?.length ?? 0;
  return plain * 10 >= text.length * 9;
}

function canDecodeToText(bytes: Uint8Array, encoding: Encoding, least: number): boolean {
  const text = decodeAs(encoding, bytes, true);
  return (
    !text.includes('\uFFFD') && !text.includes('\0') && computePlausibility(text, encoding) >= least
  );
}
