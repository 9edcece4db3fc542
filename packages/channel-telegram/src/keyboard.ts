import { type Button, ChannelError } from '@parley/contracts';

/** Labels that stand side by side; more would be cut off on a phone. In characters. */
const ROW_CHARACTERS = 24;
/** Most that Telegram keeps for a button, in bytes. */
const MAX_DATA_BYTES = 64;

/** The inline keyboard below a part; pressing a button brings its data back. */
export function keyboardOf(buttons: readonly Button[] | undefined): { reply_markup?: object } {
  if (buttons === undefined) return {};
  const rows: { text: string; callback_data: string }[][] = [];
  let room = 0;
  for (const { label, data } of buttons) {
    if (Buffer.byteLength(data) > MAX_DATA_BYTES) throw tooMuchData(label);
    const key = { text: label, callback_data: data };
    const row = room >= label.length ? rows.at(-1) : undefined;
    if (row) row.push(key);
    else rows.push([key]);
    room = (row ? room : ROW_CHARACTERS) - label.length;
  }
  return { reply_markup: { inline_keyboard: rows } };
}

function tooMuchData(label: string): ChannelError {
  const reason = `the data of the button "${label}" is longer than ${MAX_DATA_BYTES} bytes`;
  return new ChannelError({ kind: 'refused' }, `Telegram takes no such button: ${reason}.`);
}
