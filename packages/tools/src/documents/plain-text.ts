import type { DecodedText } from '@parley/core';
import { decodeBytes, warningOf } from '@parley/core/encoding';
import { type DocumentLimits, type DocumentText, documentText, refused } from './document-text.ts';
import { isMail, readMail } from './mail.ts';

/**
 * A file of text by what it says: a message, a calendar, contacts, a page, or lines such as Markdown, CSV, subtitles
 * and program source, which are shown as they are.
 */
export async function readText(bytes: Uint8Array, limits: DocumentLimits): Promise<DocumentText> {
  const decoded = decodeBytes(unfolded(bytes));
  if (isMail(decoded.text)) return readMail(bytes, limits);
  if (decoded.certainty === 'none') return refused('its encoding is not known; send it as UTF-8');
  const text = await shownText(decoded.text);
  return documentText(text, limits, { warning: doubtOf(decoded) });
}

/**
 * Calendars and contacts with their long lines put together: these are cut after so many bytes, also within a
 * character, which then is no character of any encoding.
 */
function unfolded(bytes: Uint8Array): Uint8Array {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!/^(?:\xef\xbb\xbf)?\s*BEGIN:V(?:CALENDAR|CARD)/i.test(raw.toString('latin1', 0, 64)))
    return bytes;
  return Buffer.from(raw.toString('latin1').replace(/\r?\n[ \t]/g, ''), 'latin1');
}

async function shownText(text: string): Promise<string> {
  const { calendarText, isCalendar } = await import('./calendar.ts');
  if (isCalendar(text)) return calendarText(text);
  const { contactsText, isContacts } = await import('./contacts.ts');
  if (isContacts(text)) return contactsText(text);
  const { isWebPage, webPageText } = await import('./web-page.ts');
  return isWebPage(text) ? webPageText(text) : text.replace(/\0+/g, '');
}

function doubtOf(decoded: DecodedText): string | null {
  const nuls = decoded.text.split('\0').length - 1;
  const left = nuls === 0 ? null : `${nuls.toLocaleString('en-US')} NUL bytes in it are left out.`;
  return [warningOf(decoded), left].filter((one) => one !== null).join(' ') || null;
}
