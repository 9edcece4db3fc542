import type { Attachment } from '@parley/core';
import { toNumber } from '@whiskeysockets/baileys';

/** The fields in a message that describe its file. */
export interface FileFields {
  readonly url?: string | null;
  readonly directPath?: string | null;
  readonly mediaKey?: Uint8Array | null;
  readonly fileSha256?: Uint8Array | null;
  readonly fileLength?: Parameters<typeof toNumber>[0] | null;
  readonly mimetype?: string | null;
  readonly fileName?: string | null;
  /** The document's name in older apps. */
  readonly title?: string | null;
}

/** A file within a message. */
export interface FoundFile {
  /** The media type, from which the keys are derived. */
  readonly media: 'image' | 'audio' | 'video' | 'document' | 'sticker';
  readonly shownAs: Attachment['kind'];
  readonly fields: FileFields;
}

/** The result of reading one kind of message. */
export interface KindContent {
  /** The text that the sender typed: a message, or a caption. */
  readonly typed?: string | null | undefined;
  /** Other content, described as text: a place, a poll, a choice from a list. */
  readonly shown?: string | null | undefined;
  readonly files?: readonly FoundFile[] | undefined;
  /** A name for unreadable content, with its article: `a product`. */
  readonly unread?: string | undefined;
  /**
   * Text that is shown with the message but was not written by the sender, such as a link preview.
   */
  readonly beside?: ExternalText | undefined;
  /** Whether the file or text can be viewed only once. */
  readonly isViewOnce?: boolean | undefined;
}

/** Text written by outsiders, and its source. */
export interface ExternalText {
  readonly from: string;
  readonly text: string;
}

/** How a field in a WhatsApp message is handled. */
export type FieldKind<Value> =
  /** The text and files are passed to the model. */
  | { readonly is: 'read'; readonly read: (value: Value) => KindContent }
  /** The model gets the name of the content, and the text that can be read. */
  | { readonly is: 'named'; readonly read: (value: Value) => KindContent }
  /** A wrapper around the message; `holds` is its name if nothing inside can be read. */
  | ({ readonly is: 'wrapper'; readonly holds: string } & WrapperMarks)
  /** A field that changes another message, reacts to one, or changes a setting of the chat. */
  | { readonly is: 'change' }
  /** Internal data of the platform that nobody wrote; `why` shows the `reason`. */
  | { readonly is: 'ignored'; readonly reason: string }
  /** A field that accompanies every message in some chats, so it is not recorded for `why`. */
  | { readonly is: 'silent'; readonly reason: string };

export interface WrapperMarks {
  readonly isViewOnce?: true;
  /** Whether the file inside has a format that cannot be read. */
  readonly isUnreadable?: true;
  /** The author of the message inside the wrapper, if it is not the sender. */
  readonly origin?: string;
}

/** A kind of content of which only the name is shown. */
export function createNamedKind(what: string): { is: 'named'; read: () => KindContent } {
  return { is: 'named', read: () => ({ unread: what }) };
}

/** The maximum length, in characters, of a title, name or address in a description. */
const MAX_LINE = 500;

/** Truncates text to one line; empty if there is no text. */
export function shortenToLine(text: string | null | undefined): string {
  const line = (text ?? '').replace(/\s+/g, ' ').trim();
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE).toWellFormed()}…` : line;
}

/** Joins the texts that are not empty, one per line. */
export function joinLines(...parts: readonly (string | null | undefined | false)[]): string {
  return parts.filter((part) => typeof part === 'string' && part !== '').join('\n');
}

/** Formats `Label: text`; empty if there is no text. */
export function formatLabeledLine(label: string, text: string | null | undefined): string {
  const line = shortenToLine(text);
  return line === '' ? '' : `${label}: ${line}`;
}

/** Formats `[Poll: When?]`, or `[Poll]` if there is no title. */
export function formatHeading(label: string, title: string | null | undefined): string {
  const line = shortenToLine(title);
  return line === '' ? `[${label}]` : `[${label}: ${line}]`;
}

/**
 * Converts a whole number from a message, which may be larger than JavaScript can represent
 * exactly; undefined if it is not a number.
 */
export function toSafeInteger(value: Parameters<typeof toNumber>[0]): number | undefined {
  if (value === null || value === undefined) return undefined;
  const number = toNumber(value);
  return Number.isSafeInteger(number) ? number : undefined;
}

/** The latest date that JavaScript can represent, in ms. */
const MAX_TIME_MS = 8.64e15;

/**
 * Formats a time such as `2026-09-21 14:13 UTC` from seconds since 1970; undefined if the time is
 * invalid.
 */
export function formatUtcMinute(seconds: Parameters<typeof toNumber>[0]): string | undefined {
  const number = toSafeInteger(seconds);
  if (number === undefined || number <= 0 || number * 1_000 > MAX_TIME_MS) return undefined;
  return `${new Date(number * 1_000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** Formats a time in the same way from milliseconds; undefined if the time is invalid. */
export function formatUtcMinuteFromMs(ms: Parameters<typeof toNumber>[0]): string | undefined {
  const number = toSafeInteger(ms);
  return number === undefined ? undefined : formatUtcMinute(Math.floor(number / 1_000));
}

/** Formats an amount such as `12.50 EUR` from thousandths; undefined if there is no amount. */
export function formatMoney(
  thousandths: Parameters<typeof toNumber>[0],
  currency: string | null | undefined,
): string | undefined {
  const amount = toSafeInteger(thousandths);
  if (amount === undefined || amount === 0) return undefined;
  return [(amount / 1_000).toFixed(2), shortenToLine(currency)]
    .filter((part) => part !== '')
    .join(' ');
}
