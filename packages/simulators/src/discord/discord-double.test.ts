import { GatewayIntentBits } from 'discord.js';
import { afterEach, describe, expect, it } from 'vitest';
import {
  createClient,
  startDiscordTestDouble,
  startStage,
  stopStages,
} from './testing/discord-client.ts';

const ANN = '200000000000000501';
afterEach(stopStages);

describe('[U04] a conversation through the real discord.js', () => {
  it("delivers a person's messages and shows the bot's answers, in order", async () => {
    const { double, hears, channel } = await startStage();
    double.say({ channel: double.channelId, from: ANN, text: 'hi' });
    const [message] = await hears(1);
    expect(message).toMatchObject({ content: 'hi', guildId: double.guildId, author: { id: ANN } });
    await message?.reply('**hello** you');
    await channel.send('and more');
    expect(double.conversation(double.channelId)).toMatchObject([
      { from: ANN, visible: 'hi' },
      { from: 'bot', content: '**hello** you', visible: 'hello you', replyTo: message?.id },
      { from: 'bot', visible: 'and more' },
    ]);
    expect(double.sends()).toMatchObject([
      { kind: 'message', route: { guildId: double.guildId, channelId: double.channelId } },
      { visible: 'and more' },
    ]);
  });

  it('delivers the first direct message and accepts the reply', async () => {
    const { double, hears } = await startStage();
    const channel = double.dmWith(ANN);
    double.say({ channel, text: 'psst' });
    const [message] = await hears(1);
    expect(message).toMatchObject({ content: 'psst', guildId: null, author: { id: ANN } });
    await message?.reply('yes?');
    expect(double.sends()).toMatchObject([
      { route: { channelId: channel, userId: ANN }, visible: 'yes?' },
    ]);
  });

  it('lets a bot open a direct message unless the person refuses direct messages', async () => {
    const { double, client } = await startStage();
    double.say({ channel: double.channelId, from: ANN, text: 'here I am' });
    const ann = await client.users.fetch(ANN);
    await ann.send('good morning');
    expect(double.conversation(double.dmWith(ANN))).toMatchObject([{ visible: 'good morning' }]);
    double.closeDms(ANN);
    await expect(ann.send('again')).rejects.toMatchObject({ code: 50007, status: 403 });
  });

  it('reports edits and deletions by people', async () => {
    const { double, client, hears } = await startStage();
    const { id } = double.say({ channel: double.channelId, from: ANN, text: 'teh' });
    await hears(1);
    const seen: string[] = [];
    client.on('messageUpdate', (_old, { content }) => seen.push(`edit ${content}`));
    client.on('messageDelete', (message) => seen.push(`delete ${message.id}`));
    double.reword(double.channelId, id, 'the');
    double.erase(double.channelId, id);
    await expect.poll(() => seen).toEqual(['edit the', `delete ${id}`]);
  });

  it('reports messages of other bots and of webhooks', async () => {
    const { double, hears } = await startStage();
    double.say({ channel: double.channelId, from: ANN, bot: true, text: 'beep' });
    double.say({ channel: double.channelId, webhook: 'news', text: 'extra' });
    const [bot, webhook] = await hears(2);
    expect(bot).toMatchObject({ author: { bot: true }, webhookId: null });
    expect(webhook).toMatchObject({ author: { username: 'news' } });
    expect(webhook?.webhookId).toBe(webhook?.author.id);
  });
});

describe('[U04] logging in to the Discord double', () => {
  it('rejects a wrong token at the REST API and at the gateway', async () => {
    const double = await startDiscordTestDouble();
    await expect(createClient(double).login('wrong.token.here')).rejects.toThrow('invalid token');
  });

  it('rejects privileged intents that are not enabled', async () => {
    const double = await startDiscordTestDouble({ portalIntents: 0 });
    await expect(createClient(double).login(double.token)).rejects.toThrow('disallowed intents');
  });

  it('hides content from a bot without the intent, except in messages addressed to it', async () => {
    const { double, hears } = await startStage({ portalIntents: 0 }, [
      GatewayIntentBits.Guilds,
      GatewayIntentBits.GuildMessages,
      GatewayIntentBits.DirectMessages,
    ]);
    double.say({ channel: double.channelId, from: ANN, text: 'secret' });
    double.say({ channel: double.channelId, from: ANN, text: `<@${double.me.id}> open` });
    double.say({ channel: double.dmWith(ANN), text: 'private' });
    const heard = await hears(3);
    expect(heard.map(({ content }) => content)).toEqual(['', `<@${double.me.id}> open`, 'private']);
  });

  it('refuses a login when no session starts are left', async () => {
    const double = await startDiscordTestDouble({ sessionStarts: 0 });
    await expect(createClient(double).login(double.token)).rejects.toThrow('0 remaining');
  });
});

describe('[U04] files of the Discord double', () => {
  it('stores files that the bot sends and serves them', async () => {
    const { double, channel } = await startStage();
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

  it("serves people's files at signed addresses that expire", async () => {
    let now = Date.now();
    const { double, hears } = await startStage({ clock: () => now });
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
    const { double, channel } = await startStage();
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

describe('[U04] the gateway of the Discord double', () => {
  it('sends the events of a guild to the shard that owns it', async () => {
    const double = await startDiscordTestDouble();
    const owner = Number((BigInt(double.guildId) >> 22n) % 2n);
    const clients = await Promise.all(
      [0, 1].map(async (shard) => {
        const client = createClient(double);
        client.options.shards = [shard];
        client.options.shardCount = 2;
        const ready = new Promise((resolve) => client.once('clientReady', resolve));
        await client.login(double.token);
        await ready;
        return client;
      }),
    );
    const heardBy: number[] = [];
    for (const [shard, client] of clients.entries()) {
      client.on('messageCreate', () => {
        heardBy.push(shard);
        double.transcript.changes.changed();
      });
    }
    double.say({ channel: double.channelId, from: ANN, text: 'to one' });
    double.say({ channel: double.dmWith(ANN), text: 'to the first' });
    await double.waitFor(() => heardBy.length >= 2);
    expect(heardBy.sort()).toEqual([owner, 0].sort());
  });

  it.each([
    ['{"op":99,"d":null}', 4001],
    ['not json', 4002],
    ['{"op":3,"d":{}}', 4003],
    ['{"op":2,"d":{"token":"wrong","intents":0}}', 4004],
    ['{"op":2,"d":{"token":"TOKEN","intents":1073741824}}', 4013],
  ])('closes the connection after the frame %s with code %i', async (frame, code) => {
    const double = await startDiscordTestDouble();
    const socket = new WebSocket(`${double.apiRoot.replace('http', 'ws')}/gateway`);
    socket.onopen = () => socket.send(frame.replace('TOKEN', double.token));
    const closed = await new Promise<number>((resolve) => {
      socket.onclose = (event) => resolve(event.code);
    });
    expect(closed).toBe(code);
  });
});
