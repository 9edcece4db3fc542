import { isAscii, isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import type * as DecodeBytes from './decode-bytes.ts';
import type { DecodedText, EncodingHints } from './decode-bytes.ts';

const require = createRequire(import.meta.url);

/**
 * Detects the encoding of bytes and decodes them (W10). All encodings are decided in this function:
 * it decodes every file, attachment and page that Parley did not write itself, so that all parts of
 * Parley read the same text. Valid UTF-8 is recognized immediately; the code that distinguishes
 * other encodings is loaded with the first text that needs it. Never throws.
 */
export function decodeText(bytes: Uint8Array, hints: EncodingHints = {}): DecodedText {
  if (isUtf8(bytes) && !isDoubtfulEncoding(bytes, hints)) {
    const text = new TextDecoder().decode(bytes);
    const isPlain = !CLOSER_LOOK.test(text);
    if (isPlain) return { text, encoding: 'utf-8', replaced: 0, certainty: 'sure' };
  }
  return loadDecodeModule().decodeBytes(bytes, hints);
}

/** A warning about the decoding, as a sentence; null if the bytes are valid and beyond doubt. */
export function describeEncodingWarning(decoded: DecodedText): string | null {
  if (decoded.certainty === 'sure' && decoded.replaced === 0) return null;
  return loadDecodeModule().getDecodingWarning(decoded);
}

function loadDecodeModule(): typeof DecodeBytes {
  return require('./decode-bytes.ts');
}

/**
 * Matches control characters other than line breaks and tabs, which occur in UTF-16 and in logs
 * with colors.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: They are what is looked for.
const CLOSER_LOOK = /[\0-\u0008\u000b\u000c\u000e-\u001f]/;

/**
 * A few words in another encoding may be valid UTF-8 by accident. The length of such text, in
 * bytes.
 */
const A_FEW_WORDS = 64;

function isDoubtfulEncoding(bytes: Uint8Array, { declared }: EncodingHints): boolean {
  const isOtherStated = declared !== undefined && !/^\s*utf-?8\s*$/i.test(declared);
  return (isOtherStated || bytes.length <= A_FEW_WORDS) && !isAscii(bytes);
}
