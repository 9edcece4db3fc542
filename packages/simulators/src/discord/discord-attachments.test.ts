import { afterEach, describe, expect, it } from 'vitest';
import { endStages, stage } from './discord-client.ts';

const ANN = '200000000000000501';
afterEach(endStages);

describe('[U04] files of the Discord double', () => {
  it('stores what the bot sends and gives it back', async () => {
    const { double, channel } = await stage();
    const bytes = Buffer.from([0, 1, 2, 250]);
    const files = [{ attachment: bytes, name: 'a b.bin', description: 'four bytes' }];
    const message = await channel.send({ content: 'here', files });
    expect(double.sends()).toMatchObject([
      { attachments: [{ filename: 'a_b.bin', size: 4, description: 'four bytes' }] },
    ]);
    const loaded = await fetch(message.attachments.first()?.url ?? '');
    expect(Buffer.from(await loaded.arrayBuffer())).toEqual(bytes);
    await message.edit({ attachments: [] });
    expect(double.conversation(double.channelId)).toMatchObject([{ attachments: [] }]);
  });

  it('brings what people send, at addresses that are signed and expire', async () => {
    let now = Date.now();
    const { double, hears } = await stage({ clock: () => now });
    const bytes = new TextEncoder().encode('hello');
    double.say({
      channel: double.channelId,
      from: ANN,
      files: [{ name: 'hi.txt', bytes, type: 'text/plain' }],
    });
    const [message] = await hears(1);
    const file = message?.attachments.first();
    expect(file).toMatchObject({ name: 'hi.txt', size: 5, contentType: 'text/plain' });
    const url = file?.url ?? '';
    expect(await (await fetch(url)).text()).toBe('hello');
    expect((await fetch(url.replace(/hm=.*/, 'hm=0'))).status).toBe(404);
    now += 25 * 60 * 60 * 1000;
    expect((await fetch(url)).status).toBe(404);
  });

  it('refuses a file that is too large, and any file without the permission', async () => {
    const { double, channel } = await stage();
    const large = { attachment: Buffer.alloc(10 * 1024 * 1024 + 1), name: 'large.bin' };
    await expect(channel.send({ files: [large] })).rejects.toMatchObject({
      code: 40005,
      status: 413,
    });
    double.deny(double.channelId, 'attach');
    const small = { attachment: Buffer.from('x'), name: 'small.txt' };
    await expect(channel.send({ files: [small] })).rejects.toMatchObject({ code: 50013 });
    expect(double.sends()).toEqual([]);
  });
});
