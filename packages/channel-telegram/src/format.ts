import { type Button, ChannelError, type RenderedPart } from '@parley/core';
import { MAX_TEXT } from './settings.ts';

/** A message part is sent even if the question has been deleted. */
export function toReplyParameters(messageId: string | undefined): { reply_parameters?: object } {
  const number = parseMessageNumber(messageId);
  if (number === undefined) return {};
  return { reply_parameters: { message_id: number, allow_sending_without_reply: true } };
}

/**
 * Telegram's number of a message; for a button press, the number of the message with the button.
 */
export function parseMessageNumber(messageId: string | undefined): number | undefined {
  const digits = /^\d+/.exec(messageId ?? '')?.[0];
  return digits === undefined ? undefined : Number(digits);
}

/** The id of a button press is unique and contains the id of the message with the button. */
export function formatPressId(message: string, query: string): string {
  return `${message}:${query}`;
}

/** The content of a rich message, in its HTML. */
export function toRichContent(html: string): { rich_message: { html: string } } {
  return { rich_message: { html } };
}

/** The longest text below a file, in UTF-16 units. */
export const MAX_CAPTION = 1024;

const CHARACTER: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };

/**
 * The text of a message part without markup. Spelled-out URLs can make `plain` longer than Telegram
 * accepts. In that case, the visible text of the formatted version is used, which was split to fit.
 */
export function toPlainPartText(body: RenderedPart, limit: number = MAX_TEXT): string {
  return body.plain.length <= limit ? body.plain : stripTags(body.text);
}

/** Whether the text of a message part fits below a file. */
export function fitsCaption(body: RenderedPart): boolean {
  return stripTags(body.text).length <= MAX_CAPTION;
}

function stripTags(html: string): string {
  const text = html.replace(/<\/?[a-z][^<>]*>/gi, '');
  return text.replace(
    /&(lt|gt|amp|quot);/g,
    (reference, name: string) => CHARACTER[name] ?? reference,
  );
}

/** The maximum number of label characters in one row; a phone would truncate longer rows. */
const ROW_CHARACTERS = 24;
/** The most data that Telegram stores for a button, in bytes. */
const MAX_DATA_BYTES = 64;

/** A button of an inline keyboard. Older clients show a button without its color. */
interface KeyboardKey extends Pick<Button, 'style'> {
  readonly text: string;
  readonly callback_data: string;
}

/** The inline keyboard below a message part. Pressing a button sends its data back. */
export function toKeyboard(buttons: readonly Button[] | undefined): { reply_markup?: object } {
  if (buttons === undefined) return {};
  const rows: KeyboardKey[][] = [];
  let room = 0;
  for (const { label, data, style } of buttons) {
    if (Buffer.byteLength(data) > MAX_DATA_BYTES) throw createTooMuchDataError(label);
    const key = { text: label, callback_data: data, ...(style && { style }) };
    const row = room >= label.length ? rows.at(-1) : undefined;
    if (row) row.push(key);
    else rows.push([key]);
    room = (row ? room : ROW_CHARACTERS) - label.length;
  }
  return { reply_markup: { inline_keyboard: rows } };
}

function createTooMuchDataError(label: string): ChannelError {
  const reason = `the data of the button "${label}" is longer than ${MAX_DATA_BYTES} bytes`;
  return new ChannelError({ kind: 'refused' }, `Telegram does not accept this button: ${reason}.`);
}
