import { decodeAs, type Encoding } from './labels.ts';
import { computePlausibility } from './plausible.ts';

/** How many bytes are searched for a file's own declaration. */
const LOOKED_AT = 2_048;

/**
 * Returns the encoding that a file declares in the syntax of XML, HTML, CSS, Python or editors;
 * undefined if it declares none.
 */
export function findDeclaredEncoding(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, LOOKED_AT)).toString('latin1');
  for (const pattern of STATEMENTS) {
    const label = pattern.exec(start)?.[1];
    if (label !== undefined) return label;
  }
  return undefined;
}

const STATEMENTS: readonly RegExp[] = [
  /^\s*<\?xml[^>]{0,200}?\bencoding\s*=\s*["']([\w.:-]+)/i,
  /^\s*<[\s\S]*?<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]+)/i,
  /^@charset\s+"([\w.:-]+)"/i,
  // Matches the declaration in the first two lines of a source file (PEP 263), or an editor's
  // declaration.
  /^(?:[^\n]*\n)?[ \t\f]*(?:#|\/\/|--|;|%|"|\/\*)[^\n]*?coding[:=]\s*([\w.-]+)/,
  /^BEGIN:V[\s\S]{0,400}?;CHARSET=["']?([\w.:-]+)/i,
];

/** The number of bytes that are examined. */
const SAMPLE_BYTES = 65_536;

/**
 * Whether bytes are plausible in their declared encoding. Declarations are often wrong: a server
 * declares one encoding for all files, or an editor keeps the line and saves as UTF-8.
 */
export function isPlausibleDeclaredEncoding(
  bytes: Uint8Array,
  encoding: Encoding,
  isCut: boolean,
): boolean {
  const isPart = isCut || bytes.length > SAMPLE_BYTES;
  const text = decodeAs(encoding, bytes.subarray(0, SAMPLE_BYTES), isPart);
  const replaced = text.split('\uFFFD').length - 1;
  if (replaced > 0 && replaced * 50 > countNonAscii(text)) return false;
  return computePlausibility(text, encoding) >= 0.6;
}

function countNonAscii(text: string): number {
  return text.length - (text.match(/[\0-\x7f]/g)?.length ?? 0);
}
