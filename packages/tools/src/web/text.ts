/**
 * Control characters but line ends and tabs, soft hyphens, invisible and direction-changing
 * characters, tags and variation selectors: people do not see what is written with them, a model
 * does. The zero-width joiner and the emoji selector stay, since emoji need them.
 */
const UNSEEN =
  /[\p{Cc}\p{Cf}\u115f\u1160\u3164\uffa0\u{e0000}-\u{e0fff}]|\p{Default_Ignorable_Code_Point}/gu;
/** Of these, what emoji are made with. */
const KEPT: ReadonlySet<string> = new Set(['\n', '\t', '\u200d', '\ufe0f']);

/** Text as a person would see it, with plain line ends and no runs of empty lines. Pure. */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029\u0085]/g, '\n')
    .replace(UNSEEN, (character) => (KEPT.has(character) ? character : ''))
    .replace(/[^\S\n]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** The same as one line. */
export function oneLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ');
}

/** How far into a page its declared encoding is looked for, in bytes. */
const LOOKED_AT = 2_048;

/**
 * Bytes as text, in the encoding that the bytes, the server or the page itself name, in this order;
 * UTF-8 otherwise. Never throws: what does not fit becomes a replacement character. Pure.
 */
export function decodeText(bytes: Uint8Array, contentType: string): string {
  const named = markOf(bytes) ?? inType(contentType) ?? inPage(bytes) ?? 'utf-8';
  return decoderOf(named).decode(bytes);
}

function markOf(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return undefined;
}

function inType(contentType: string): string | undefined {
  return /charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType)?.[1];
}

function inPage(bytes: Uint8Array): string | undefined {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, LOOKED_AT));
  return /<meta[^>]{0,200}?charset\s*=\s*["']?([\w.:-]+)/i.exec(start)?.[1];
}

function decoderOf(label: string): { decode(bytes: Uint8Array): string } {
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder(); // An unknown encoding is read as the most common one.
  }
}
