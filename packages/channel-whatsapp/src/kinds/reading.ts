import type { Attachment } from '@parley/core';
import { toNumber } from '@whiskeysockets/baileys';

/** The fields of a message that describe its file. */
export interface FileFields {
  readonly url?: string | null;
  readonly directPath?: string | null;
  readonly mediaKey?: Uint8Array | null;
  readonly fileSha256?: Uint8Array | null;
  readonly fileLength?: Parameters<typeof toNumber>[0] | null;
  readonly mimetype?: string | null;
  readonly fileName?: string | null;
  /** The name of a document in older apps. */
  readonly title?: string | null;
}

/** A file within a message. */
export interface FoundFile {
  /** The media type, which determines the derived keys. */
  readonly media: 'image' | 'audio' | 'video' | 'document' | 'sticker';
  readonly shownAs: Attachment['kind'];
  readonly fields: FileFields;
}

/** The result of reading one kind of message. */
export interface KindContent {
  /** The text that the sender typed: a message, or a caption. */
  readonly typed?: string | null | undefined;
  /** Other content described in text: a place, a poll, a choice from a list. */
  readonly shown?: string | null | undefined;
  readonly files?: readonly FoundFile[] | undefined;
  /** A name for unreadable content, with its article: `a product`. */
  readonly unread?: string | undefined;
  /** Text shown with the message that the sender did not write, such as a link preview. */
  readonly beside?: ExternalText | undefined;
  /** Whether the file or text can be viewed only once. */
  readonly isViewOnce?: boolean | undefined;
}

/** Text written by outsiders, with its source. */
export interface ExternalText {
  readonly from: string;
  readonly text: string;
}

/** How one field of a WhatsApp message is handled. */
export type FieldKind<Value> =
  /** The text and files are passed to the model. */
  | { readonly is: 'read'; readonly read: (value: Value) => KindContent }
  /** The content is named to the model, with the text that can be read. */
  | { readonly is: 'named'; readonly read: (value: Value) => KindContent }
  /** A wrapper around the message; `holds` names it if nothing inside can be read. */
  | ({ readonly is: 'wrapper'; readonly holds: string } & WrapperMarks)
  /** A field that changes or reacts to another message, or changes a setting of the chat. */
  | { readonly is: 'change' }
  /** Internal data of the platform, which nobody wrote; `why` shows the `reason`. */
  | { readonly is: 'ignored'; readonly reason: string }
  /** A field that accompanies every message of some chats, so nothing is recorded for `why`. */
  | { readonly is: 'silent'; readonly reason: string };

export interface WrapperMarks {
  readonly isViewOnce?: true;
  /** Whether the file inside has a format that cannot be read. */
  readonly isUnreadable?: true;
  /** The author of the message inside, if it is not the sender. */
  readonly origin?: string;
}

/** A kind that is only named. */
export function createNamedKind(what: string): { is: 'named'; read: () => KindContent } {
  return { is: 'named', read: () => ({ unread: what }) };
}

/** The maximum length of a title, name or address in a description, in characters. */
const MAX_LINE = 500;

/** A text truncated to one line; empty if there is no text. */
export function shortenToLine(text: string | null | undefined): string {
  const line = (text ?? '').replace(/\s+/g, ' ').trim();
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE).toWellFormed()}…` : line;
}

/** Joins the texts that are present, one per line. */
export function joinLines(...parts: readonly (string | null | undefined | false)[]): string {
  return parts.filter((part) => typeof part === 'string' && part !== '').join('\n');
}

/** `Label: text`; empty without a text. */
export function formatLabelledLine(label: string, text: string | null | undefined): string {
  const line = shortenToLine(text);
  return line === '' ? '' : `${label}: ${line}`;
}

/** `[Poll: When?]`, or `[Poll]` without a title. */
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
 * A time such as `2026-09-21 14:13 UTC`, from seconds since 1970; undefined for an invalid time.
 */
export function formatUtcMinute(seconds: Parameters<typeof toNumber>[0]): string | undefined {
  const number = toSafeInteger(seconds);
  if (number === undefined || number <= 0 || number * 1_000 > MAX_TIME_MS) return undefined;
  return `${new Date(number * 1_000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** A time in the same format, from milliseconds; undefined for an invalid time. */
export function formatUtcMinuteFromMs(ms: Parameters<typeof toNumber>[0]): string | undefined {
  const number = toSafeInteger(ms);
  return number === undefined ? undefined : formatUtcMinute(Math.floor(number / 1_000));
}

/** An amount such as `12.50 EUR`, from thousandths; undefined if there is no amount. */
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
