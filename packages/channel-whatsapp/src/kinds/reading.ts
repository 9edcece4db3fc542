import type { Attachment } from '@parley/core';
import { toNumber } from '@whiskeysockets/baileys';

/** The fields of a message about its file. */
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
  /** Decides how its key is used. */
  readonly media: 'image' | 'audio' | 'video' | 'document' | 'sticker';
  readonly shownAs: Attachment['kind'];
  readonly fields: FileFields;
}

/** The content of one kind of message. */
export interface Reading {
  /** The words that its sender typed: a message of its own, or the text below a file. */
  readonly typed?: string | null | undefined;
  /** Its other content, described in text: a place, a poll, a choice from a list. */
  readonly shown?: string | null | undefined;
  readonly files?: readonly FoundFile[] | undefined;
  /** A name for what cannot be read, with its article: `a product`. */
  readonly unread?: string | undefined;
  /** Text beside the message that is not its sender's: the preview of a link. */
  readonly beside?: Beside | undefined;
  /** Its file or text is shown once. */
  readonly isViewOnce?: boolean | undefined;
}

/** Text of outsiders, and where it is from. */
export interface Beside {
  readonly from: string;
  readonly text: string;
}

/** The handling of one field of WhatsApp's message. */
export type Kind<Value> =
  /** Its words and files reach the model. */
  | { readonly is: 'read'; readonly read: (value: Value) => Reading }
  /** It is named to the model, with the words that can be read of it. */
  | { readonly is: 'named'; readonly read: (value: Value) => Reading }
  /** The message is inside; `holds` names it where nothing inside can be read. */
  | ({ readonly is: 'wrapper'; readonly holds: string } & WrapperMarks)
  /** It changes or reacts to another message, or a setting of the chat. */
  | { readonly is: 'change' }
  /** Bookkeeping of the platform, which nobody wrote; `reason` is for `why`. */
  | { readonly is: 'ignored'; readonly reason: string }
  /** It comes along with every message of some chats and says nothing by itself, so `why` gets no note. */
  | { readonly is: 'silent'; readonly reason: string };

export interface WrapperMarks {
  readonly isViewOnce?: true;
  /** Its file is of a form that cannot be read. */
  readonly isUnreadable?: true;
  /** The author of the message inside, where it is not the sender. */
  readonly origin?: string;
}

/** A kind of which only the name is known. */
export function namedOnly(what: string): { is: 'named'; read: () => Reading } {
  return { is: 'named', read: () => ({ unread: what }) };
}

/** Longest title, name or address within a description, in characters. */
const MAX_LINE = 500;

/** A text on one line, shortened; empty for none. */
export function shortLine(text: string | null | undefined): string {
  const line = (text ?? '').replace(/\s+/g, ' ').trim();
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE).toWellFormed()}…` : line;
}

/** The texts that there are, each on a line. */
export function joinLines(...parts: readonly (string | null | undefined | false)[]): string {
  return parts.filter((part) => typeof part === 'string' && part !== '').join('\n');
}

/** `Label: text`; empty without a text. */
export function labelledLine(label: string, text: string | null | undefined): string {
  const line = shortLine(text);
  return line === '' ? '' : `${label}: ${line}`;
}

/** `[Poll: When?]`, or `[Poll]` without a title. */
export function heading(label: string, title: string | null | undefined): string {
  const line = shortLine(title);
  return line === '' ? `[${label}]` : `[${label}: ${line}]`;
}

/** A whole number of the wire, which may be wider than a number of JavaScript; undefined where it is none. */
export function toSafeInteger(value: Parameters<typeof toNumber>[0]): number | undefined {
  if (value === null || value === undefined) return undefined;
  const number = toNumber(value);
  return Number.isSafeInteger(number) ? number : undefined;
}

/** The last moment that a date can have, in ms. */
const MAX_TIME_MS = 8.64e15;

/** `2026-09-21 14:13 UTC`, from seconds since 1970; undefined for no moment. */
export function utcMinute(seconds: Parameters<typeof toNumber>[0]): string | undefined {
  const number = toSafeInteger(seconds);
  if (number === undefined || number <= 0 || number * 1_000 > MAX_TIME_MS) return undefined;
  return `${new Date(number * 1_000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** The same from milliseconds. */
export function momentOfMs(ms: Parameters<typeof toNumber>[0]): string | undefined {
  const number = toSafeInteger(ms);
  return number === undefined ? undefined : utcMinute(Math.floor(number / 1_000));
}

/** `12.50 EUR`, from thousandths; undefined without an amount. */
export function moneyOf(
  thousandths: Parameters<typeof toNumber>[0],
  currency: string | null | undefined,
): string | undefined {
  const amount = toSafeInteger(thousandths);
  if (amount === undefined || amount === 0) return undefined;
  return [(amount / 1_000).toFixed(2), shortLine(currency)].filter((part) => part !== '').join(' ');
}
