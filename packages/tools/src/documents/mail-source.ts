import { decodeBytes } from '@parley/core/encoding';

/**
 * Converts the source of a message to a form that the parser accepts, because the parser handles
 * only standard messages. Header text written as raw bytes, or as encoded words in any charset,
 * becomes encoded words in UTF-8. A multipart message with a missing boundary gets the boundary
 * used by its parts.
 */
export function toReadableSource(bytes: Uint8Array): Uint8Array {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = /\r?\n\r?\n/.exec(raw.toString('latin1'))?.index ?? raw.length;
  const head = decodeBytes(raw.subarray(0, end)).text.replaceAll(ENCODED_WORDS, encodeWordsAsUtf8);
  const body = raw.subarray(end);
  return Buffer.concat([Buffer.from(addBoundary(head, body)), body]);
}

/**
 * Consecutive encoded words (RFC 2047): the whitespace between them is ignored, and a character may
 * be split between two.
 */
const ENCODED_WORDS = /=\?[^?\s]+\?[BQ]\?[^?\r\n]*\?=(?:\s+=\?[^?\s]+\?[BQ]\?[^?\r\n]*\?=)*/gi;

function encodeWordsAsUtf8(words: string): string {
  const runs: { charset: string; bytes: Uint8Array }[] = [];
  for (const [, stated = '', kind = '', content = ''] of words.matchAll(
    /=\?([^?\s]+)\?([BQ])\?([^?\r\n]*)\?=/gi,
  )) {
    // A language tag may follow the charset (RFC 2231).
    const charset = stated.replace(/\*.*/, '').toLowerCase();
    const bytes = /b/i.test(kind) ? Buffer.from(content, 'base64') : decodeQEncoding(content);
    const last = runs.at(-1);
    if (last?.charset === charset) last.bytes = Buffer.concat([last.bytes, bytes]);
    else runs.push({ charset, bytes });
  }
  const text = runs.map(({ charset, bytes }) => decodeBytes(bytes, { declared: charset }).text);
  return `=?utf-8?B?${Buffer.from(text.join('')).toString('base64')}?=`;
}

function decodeQEncoding(content: string): Uint8Array {
  const text = content
    .replaceAll('_', ' ')
    .replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(text, 'latin1');
}

const TYPE = /^content-type:[^\n]*(?:\n[ \t][^\n]*)*/im;
const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;]+))/i;

/**
 * The header with the boundary that was found in the body; a body without a boundary is a single
 * text.
 */
function addBoundary(head: string, body: Uint8Array): string {
  const type = TYPE.exec(head)?.[0];
  if (type === undefined || !/:\s*multipart\//i.test(type)) return head;
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  const [, quoted, plain] = BOUNDARY.exec(type) ?? [];
  const stated = quoted ?? plain ?? '';
  if (stated !== '' && text.includes(`--${stated}`)) return head;
  const found = /^--([^\s"]{1,70})[ \t]*\r?\ncontent-[a-z-]+:/im.exec(text)?.[1];
  const kind = type.replace(/;[\s\S]*/, '');
  const repaired =
    found === undefined ? 'Content-Type: text/plain' : `${kind}; boundary="${found}"`;
  return head.replace(type, () => repaired);
}
