import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { PLACES, runTypedCommand } from './control.ts';
import {
  closeTestDoubles,
  getRefusalData,
  startTelegramTestDouble,
} from './testing/telegraf-client.ts';

afterEach(closeTestDoubles);

describe('typed commands of the Telegram double', () => {
  it('writes in a private chat, a group and a channel', async () => {
    const { double } = await startTelegramTestDouble();
    for (const line of ['hello', '  ', '!group hi all', '!post news'])
      runTypedCommand(double, line);
    const texts = (chat: number) => double.conversation(chat).map(({ text }) => text);
    expect(Object.values(PLACES).map(texts)).toEqual([['hello'], ['hi all'], ['news']]);
  });

  it('sends a file, edits a message, presses a button and blocks the bot', async () => {
    const { double, telegram } = await startTelegramTestDouble();
    const folder = await mkdtemp(join(tmpdir(), 'parley-typed-'));
    await writeFile(join(folder, 'a.jpg'), 'x');
    runTypedCommand(double, 'helo');
    runTypedCommand(double, '!edit hello');
    runTypedCommand(double, `!file ${join(folder, 'a.jpg')} what is it?`);
    await rm(folder, { recursive: true });
    const reply_markup = { inline_keyboard: [[{ text: 'Yes', callback_data: '/yes' }]] };
    await telegram.sendMessage(PLACES.person, 'Sure?', { reply_markup });
    runTypedCommand(double, '!press Yes');
    const updates = await telegram.callApi('getUpdates', {});
    expect(updates).toMatchObject([
      { message: { text: 'helo' } },
      { edited_message: { text: 'hello' } },
      { message: { caption: 'what is it?', photo: [{}, {}] } },
      { callback_query: { data: '/yes' } },
    ]);
    runTypedCommand(double, '!block');
    expect(await getRefusalData(telegram.sendMessage(PLACES.person, 'x'))).toMatchObject({
      code: 403,
    });
  });

  it('writes to a channel, as a business customer and as a guest, and sends messages with any fields', async () => {
    const { double, telegram } = await startTelegramTestDouble();
    const lines = ['!subscriber a', '!customer b', '!customer c', '!guest d', '!send {"story":{}}'];
    for (const line of lines) runTypedCommand(double, line);
    expect(await telegram.callApi('getUpdates', {})).toMatchObject([
      { message: { text: 'a', direct_messages_topic: { topic_id: 7 } } },
      { business_connection: { id: 'business', is_enabled: true } },
      { business_message: { text: 'b', business_connection_id: 'business' } },
      { business_message: { text: 'c' } },
      { guest_message: { text: 'd', guest_query_id: expect.any(String) } },
      { message: { story: {} } },
    ]);
  });

  it.each(['!dance', '!press No', '!edit x', '!file /nowhere/a.jpg', '!send {'])(
    'explains why the typed line %s fails',
    async (line) => {
      const { double } = await startTelegramTestDouble();
      expect(() => runTypedCommand(double, line)).toThrow();
    },
  );
});
