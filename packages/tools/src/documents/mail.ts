import { decodeBytes } from '@parley/core/encoding';
import type { Address, Attachment, Email } from 'postal-mime';
import { type DocumentLimits, type DocumentText, selectDocumentText } from './document-text.ts';
import { toReadableSource } from './mail-source.ts';

/** Headers at the beginning of a stored message; text with two of these headers is a message. */
const HEADERS =
  /^(?:from|to|cc|subject|date|received|return-path|delivered-to|message-id|mime-version|content-type|reply-to|x-[\w-]+|dkim-signature|authentication-results|arc-[\w-]+|list-[\w-]+|references|in-reply-to|sender|user-agent|thread-\w+|status|importance)$/i;
/** The separator line before each message in a mailbox. */
const BETWEEN = /^From \S.*\d{4}\s*$/;

/** Whether a text begins with a message header (`.eml`, `.mbox`). */
export function isMail(text: string): boolean {
  const [head = ''] = text.trimStart().split(/\r?\n\r?\n/, 1);
  const lines = head.slice(0, 16_384).split(/\r?\n/);
  if (BETWEEN.test(lines[0] ?? '')) lines.shift();
  const named = new Set<string>();
  for (const line of lines) {
    if (/^[ \t]/.test(line)) continue;
    const name = /^([\w-]+):/.exec(line)?.[1];
    if (name === undefined) return false;
    if (HEADERS.test(name)) named.add(name.toLowerCase());
  }
  const isAddressed = named.has('from') || named.has('received') || named.has('return-path');
  const isDated = ['date', 'message-id', 'mime-version', 'received'].some((name) =>
    named.has(name),
  );
  return named.size >= 3 && isAddressed && isDated;
}

/**
 * Reads a message, or messages of a mailbox until the requested text is complete. Errors from the
 * library are passed on.
 */
export async function readMail(bytes: Uint8Array, limits: DocumentLimits): Promise<DocumentText> {
  const messages = splitMailbox(bytes);
  const wanted = (limits.from ?? 0) + limits.characters;
  const parts: string[] = [];
  let length = 0;
  for (const [at, message] of messages.entries()) {
    if (length > wanted) break;
    const text = await formatMail(message);
    parts.push(messages.length === 1 ? text : `# Message ${at + 1}\n${text}`);
    length += text.length;
  }
  return selectDocumentText(parts.join('\n\n'), limits, {
    pagesLeft: messages.length - parts.length,
  });
}

/** Splits a mailbox at its `From ` lines. */
function splitMailbox(bytes: Uint8Array): readonly Uint8Array[] {
  const { text, encoding } = decodeBytes(bytes);
  // A message is ASCII, with separate encodings for its parts, but a program may have saved it in
  // UTF-16.
  const all = encoding.startsWith('utf-16') ? Buffer.from(text) : Buffer.from(bytes);
  const raw = all.toString('latin1');
  if (!BETWEEN.test(raw.slice(0, raw.indexOf('\n')).trimEnd())) return [all];
  return raw
    .split(/^(?=From \S[^\n]*\d{4}\s*$)/m)
    .map((message) => message.replace(/^From [^\n]*\n/, '').replace(/^>(>*From )/gm, '$1'))
    .filter((message) => message.trim() !== '')
    .map((message) => Buffer.from(message, 'latin1'));
}

const LIMITS = { maxNestingDepth: 50, maxHeadersSize: 1_000_000, maxRfc822NestingDepth: 3 };

async function formatMail(bytes: Uint8Array): Promise<string> {
  const { default: PostalMime } = await import('postal-mime');
  const readable = toReadableSource(bytes);
  const mail = await PostalMime.parse(readable, LIMITS);
  const body = await readMailBody(mail, readable);
  const events = await readCalendars(mail);
  return [formatHeaders(mail), body, ...events, listAttachments(mail)]
    .filter((part) => part !== '')
    .join('\n\n');
}

async function readMailBody(mail: Email, raw: Uint8Array): Promise<string> {
  const { text = '', html = '' } = mail;
  const isText = text.trim() !== '';
  const shown = isText ? text.trim() : html;
  const charset = findCommonCharset(raw);
  const isStated = charset === null || /^utf-?8$/.test(charset ?? '');
  const isTrusted = !/[^\0-\x7f]/.test(shown) || (isStated && !shown.includes('\uFFFD'));
  const body = isTrusted ? shown : await decodeBody(shown, raw, charset ?? undefined);
  return isText ? body : formatHtml(body);
}

/**
 * The common charset of all text parts; undefined when none is declared, null when there are
 * several.
 */
function findCommonCharset(raw: Uint8Array): string | undefined | null {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('latin1');
  const headers = text.match(/^content-type:\s*text\/[^\n]*(?:\n[ \t][^\n]*)*/gim) ?? [];
  const charsets = headers.map((header) => /charset\s*=\s*"?([\w.:-]+)/i.exec(header)?.[1]);
  const all = new Set(charsets.map((charset) => charset?.toLowerCase()));
  return all.size > 1 ? null : [...all][0];
}

/** Decodes a text from its bytes if its charset is missing or wrong. */
async function decodeBody(
  shown: string,
  raw: Uint8Array,
  declared: string | undefined,
): Promise<string> {
  const { default: PostalMime } = await import('postal-mime');
  const { text = '', html = '' } = await PostalMime.parse(declareByteCharsets(raw), LIMITS);
  const decoded = decodeBytes(encodeByteCharset(text.trim() || html), { declared });
  const isWorse =
    decoded.certainty === 'none' || decoded.replaced > countReplacementCharacters(shown);
  return isWorse ? shown : decoded.text;
}

function countReplacementCharacters(text: string): number {
  return text.split('\uFFFD').length - 1;
}

/** The message, with each part declared in an encoding in which every byte is a character. */
function declareByteCharsets(bytes: Uint8Array): Uint8Array {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const declared = raw
    .replace(/^(content-type:\s*text\/\w+(?:;[^\n]*|\r)?(?:\n[ \t][^\n]*)*)/gim, (header) =>
      header.replace(/;\s*charset\s*=\s*(?:"[^"]*"|[\w.:-]+)/gi, ''),
    )
    .replace(/^(content-type:\s*text\/\w+)/gim, `$1; charset=${BYTE_CHARSET}`);
  const hasType = /^content-type:/im.test(declared.slice(0, declared.search(/\r?\n\r?\n/) + 1));
  const whole = hasType
    ? declared
    : `Content-Type: text/plain; charset=${BYTE_CHARSET}\n${declared}`;
  return Buffer.from(whole, 'latin1');
}

/**
 * A single-byte encoding in which each byte has its own character, so that decoding is reversible.
 */
const BYTE_CHARSET = 'macintosh';

/** Returns the original bytes of a text that was decoded as `BYTE_CHARSET`. */
function encodeByteCharset(text: string): Uint8Array {
  const all = new TextDecoder(BYTE_CHARSET).decode(Uint8Array.from({ length: 256 }, (_, at) => at));
  const codes = new Map([...all].map((character, code) => [character, code]));
  return Uint8Array.from([...text].flatMap((character) => codes.get(character) ?? []));
}

async function formatHtml(html: string): Promise<string> {
  if (html.trim() === '') return '';
  const { formatWebPage } = await import('./web-page.ts');
  return formatWebPage(html);
}

/** Formats the headers that are useful to people, with the date in the sender's time zone. */
function formatHeaders(mail: Email): string {
  const date = mail.headers.find(({ key }) => key === 'date')?.value ?? mail.date ?? '';
  const lines: readonly (readonly [label: string, value: string])[] = [
    ['From', formatAddresses(mail.from === undefined ? [] : [mail.from])],
    ['To', formatAddresses(mail.to)],
    ['Cc', formatAddresses(mail.cc)],
    ['Reply-To', formatAddresses(mail.replyTo)],
    ['Date', date.trim()],
    ['Subject', mail.subject?.trim() ?? ''],
  ];
  return lines.flatMap(([label, value]) => (value === '' ? [] : [`${label}: ${value}`])).join('\n');
}

function formatAddresses(addresses: readonly Address[] = []): string {
  return addresses.map(formatAddress).join(', ');
}

function formatAddress(address: Address): string {
  if (address.group !== undefined) return `${address.name}: ${formatAddresses(address.group)};`;
  const { name, address: mailbox } = address;
  return name === '' ? mailbox : `${name} <${mailbox}>`;
}

/** An invitation is treated as part of the message, not as an attached file. */
async function readCalendars({ attachments }: Email): Promise<readonly string[]> {
  const calendars = attachments.filter(isInvitation);
  if (calendars.length === 0) return [];
  const { formatCalendar } = await import('./calendar.ts');
  return calendars.map(({ content }) =>
    formatCalendar(decodeBytes(getAttachmentBytes(content)).text),
  );
}

function isInvitation({ mimeType, filename }: Attachment): boolean {
  const isCalendar = /^(?:text\/(?:x-v)?calendar|application\/ics)$/i.test(mimeType);
  return isCalendar || /\.(?:ics|vcs)$/i.test(filename ?? '');
}

function getAttachmentBytes(content: Attachment['content']): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content);
}

function listAttachments({ attachments }: Email): string {
  const files = attachments.filter((attachment) => !isInvitation(attachment));
  if (files.length === 0) return '';
  const lines = files.map((attachment) => {
    const { filename, mimeType, content } = attachment;
    const size = getAttachmentBytes(content).byteLength.toLocaleString('en-US');
    return `- ${filename ?? 'without a name'} (${mimeType}, ${size} bytes)`;
  });
  return `Attachments, which are not read:\n${lines.join('\n')}`;
}
