import { badRequest } from './refusal.ts';
import { isRecord, type RequestParams } from './request-params.ts';
import type { WireMessage } from './wire.ts';

/** A button that brings its data to the bot. */
export interface WireButton {
  readonly text: string;
  readonly callback_data: string;
}

/**
 * The keyboard of a call, if it has one, checked as on the servers: only buttons with data.
 * @throws Refusal 400
 */
export function readKeyboard(params: RequestParams): { reply_markup?: unknown } {
  const markup = params.json('reply_markup');
  if (markup === undefined) return {};
  const rows = isRecord(markup) ? markup.inline_keyboard : undefined;
  if (!Array.isArray(rows)) throw badRequest('object expected as reply markup');
  for (const row of rows) {
    if (!Array.isArray(row)) throw badRequest("can't parse inline keyboard: expected an Array");
    for (const button of row) checkButton(button);
  }
  return rows.flat().length === 0 ? {} : { reply_markup: markup };
}

/** The buttons below a message, in reading order. */
export function buttonsOf({ reply_markup }: WireMessage): WireButton[] {
  const rows = isRecord(reply_markup) ? reply_markup.inline_keyboard : undefined;
  if (!Array.isArray(rows)) return [];
  return rows.flat().map((key: unknown) => {
    const { text, callback_data } = isRecord(key) ? key : {};
    return { text: String(text), callback_data: String(callback_data) };
  });
}

function checkButton(button: unknown): void {
  const { text, callback_data } = isRecord(button) ? button : {};
  if (typeof text !== 'string' || text.trim() === '') {
    throw badRequest("can't parse inline keyboard button: Text buttons are unallowed");
  }
  const bytes = typeof callback_data === 'string' ? Buffer.byteLength(callback_data) : 0;
  if (bytes < 1 || bytes > 64) throw badRequest('BUTTON_DATA_INVALID');
}
