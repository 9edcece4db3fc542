import type { DecodedText } from '@parley/core';
import {
  decodeBytes,
  decodeInPieces,
  detectEncoding,
  getDecodingWarning,
} from '@parley/core/encoding';
import {
  alignToCharacter,
  type DocumentLimits,
  type DocumentText,
  refuseDocument,
  selectDocumentText,
} from './document-text.ts';
import { isMail, readMail } from './mail.ts';

/**
 * Only the requested part of a longer file is kept, because decoded text takes several times as
 * much memory as its bytes.
 */
const LONG_BYTES = 3_000_000;

/**
 * Reads a text file according to its content: a message, a calendar, contacts, a web page, or plain
 * lines such as Markdown, CSV, subtitles and source code, which are returned as they are.
 */
export async function readTextDocument(
  bytes: Uint8Array,
  limits: DocumentLimits,
): Promise<DocumentText> {
  const { text: start } = decodeBytes(bytes.subarray(0, START_BYTES), { isCut: true });
  if (isMail(start)) return readMail(bytes, limits);
  if (bytes.length > LONG_BYTES) return readLongText(bytes, limits);
  const decoded = decodeBytes(unfoldBytes(bytes));
  if (decoded.certainty === 'none') return refuseDocument(NO_ENCODING);
  const text = await formatText(decoded.text);
  return selectDocumentText(text, limits, {
    warning: describeDecodingWarning(decoded, countNuls(decoded.text)),
  });
}

const NO_ENCODING = 'its encoding is not known; send it as UTF-8';
/** The number of bytes in which a message header must appear. */
const START_BYTES = 65_536;

function readLongText(bytes: Uint8Array, limits: DocumentLimits): DocumentText {
  const { encoding, certainty, content } = detectEncoding(bytes);
  if (certainty === 'none') return refuseDocument(NO_ENCODING);
  const { from = 0, characters } = limits;
  const kept: string[] = [];
  let length = 0;
  let nuls = 0;
  let replaced = 0;
  for (const piece of decodeInPieces(encoding, content)) {
    nuls += countNuls(piece);
    replaced += piece.split('\uFFFD').length - 1;
    // A line break that is split between two chunks is not normalized.
    const text = piece.replace(/\r\n|\0+/g, (found) => (found === '\r\n' ? '\n' : ''));
    // Requests one more character, to detect a character that would be split.
    const end = from + characters + 1 - length;
    if (end > 0) kept.push(text.slice(Math.max(0, from - length), end));
    length += text.length;
  }
  const found = kept.join('');
  const text = found.slice(0, alignToCharacter(found, Math.min(characters, found.length)));
  const end = from + text.length;
  const warning = describeDecodingWarning({ text: '', encoding, certainty, replaced }, nuls);
  const next = end < length ? end : null;
  return { kind: 'text', text: text.toWellFormed(), next, length, pagesLeft: 0, warning };
}

/**
 * Unfolds long lines in calendars and contacts, which are folded after a number of bytes, even in
 * the middle of a character, which is then invalid in every encoding.
 */
function unfoldBytes(bytes: Uint8Array): Uint8Array {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!/^(?:\xef\xbb\xbf)?\s*BEGIN:V(?:CALENDAR|CARD)/i.test(raw.toString('latin1', 0, 64)))
    return bytes;
  return Buffer.from(raw.toString('latin1').replace(/\r?\n[ \t]/g, ''), 'latin1');
}

async function formatText(text: string): Promise<string> {
  const { formatCalendar, isCalendar } = await import('./calendar.ts');
  if (isCalendar(text)) return formatCalendar(text);
  const { formatContacts, isContacts } = await import('./contacts.ts');
  if (isContacts(text)) return formatContacts(text);
  const { isWebPage, formatWebPage } = await import('./web-page.ts');
  return isWebPage(text) ? formatWebPage(text) : text.replace(/\0+/g, '');
}

function countNuls(text: string): number {
  return text.split('\0').length - 1;
}

function describeDecodingWarning(decoded: DecodedText, nuls: number): string | null {
  const left = nuls === 0 ? null : `${nuls.toLocaleString('en-US')} NUL bytes in it are left out.`;
  return [getDecodingWarning(decoded), left].filter((one) => one !== null).join(' ') || null;
}
