import { ActionRowBuilder, ButtonBuilder, ButtonStyle, EmbedBuilder } from 'discord.js';
import { afterEach, describe, expect, it } from 'vitest';
import { startStage, stopStages } from './testing/discord-client.ts';

const ANN = '200000000000000501';
const BEN = '200000000000000502';
afterEach(stopStages);

describe('[U04] validation of calls in the Discord double', () => {
  it('accepts 2,000 characters and refuses 2,001, an empty message and embeds that are too long', async () => {
    const { double, channel } = await startStage();
    await channel.send('a'.repeat(2000));
    await expect(channel.send('a'.repeat(2001))).rejects.toMatchObject({
      code: 50035,
      status: 400,
    });
    await expect(channel.send('a'.repeat(2001))).rejects.toThrow('content[BASE_TYPE_MAX_LENGTH]');
    await expect(channel.send(' ')).rejects.toMatchObject({ code: 50006 });
    const big = new EmbedBuilder().setDescription('b'.repeat(3500));
    await expect(channel.send({ embeds: [big, big] })).rejects.toMatchObject({ code: 50035 });
    expect(double.conversation(double.channelId)).toHaveLength(1);
  });

  it('refuses two buttons with the same id', async () => {
    const { channel } = await startStage();
    const button = new ButtonBuilder().setCustomId('x').setLabel('X').setStyle(ButtonStyle.Primary);
    const row = new ActionRowBuilder<ButtonBuilder>().addComponents(button, button);
    await expect(channel.send({ components: [row] })).rejects.toThrow('DUPLICATED');
  });

  it('returns unknown-object errors for missing channels and messages', async () => {
    const { client, channel } = await startStage();
    await expect(client.channels.fetch('123456789012345678')).rejects.toMatchObject({
      code: 10003,
    });
    await expect(channel.messages.fetch('123456789012345678')).rejects.toMatchObject({
      code: 10008,
    });
  });

  it('denies the bot access to channels that it may not see or write to', async () => {
    const { double, channel } = await startStage();
    double.deny(double.channelId, 'send');
    await expect(channel.send('hi')).rejects.toMatchObject({ code: 50013, status: 403 });
    double.deny(double.channelId, 'view');
    await expect(channel.send('hi')).rejects.toMatchObject({ code: 50001, status: 403 });
    double.deny(double.channelId, 'view', false);
    double.deny(double.channelId, 'send', false);
    await channel.send('hi');
  });

  it('allows the bot to edit and delete only its own messages', async () => {
    const { double, channel, hears } = await startStage();
    double.say({ channel: double.channelId, from: ANN, text: 'mine' });
    const [message] = await hears(1);
    await expect(channel.messages.edit(message?.id ?? '', 'yours')).rejects.toMatchObject({
      code: 50005,
    });
    await expect(message?.delete()).rejects.toMatchObject({ code: 50013 });
    const own = await channel.send('one');
    await own.edit('two');
    expect(double.conversation(double.channelId).at(-1)).toMatchObject({
      visible: 'two',
      edited: true,
    });
    await own.delete();
    expect(double.conversation(double.channelId)).toHaveLength(1);
    expect(double.sends().map(({ kind, visible }) => `${kind} ${visible}`)).toEqual([
      'message one',
      'edit two',
    ]);
  });

  it('refuses a reply to a deleted message unless the call allows a missing reference', async () => {
    const { double, channel } = await startStage();
    const reply = { messageReference: '123456789012345678', failIfNotExists: true };
    await expect(channel.send({ content: 'so', reply })).rejects.toThrow('Unknown message');
    await channel.send({ content: 'so', reply: { ...reply, failIfNotExists: false } });
    expect(double.sends()).toHaveLength(1);
  });
});

describe('[U04] message notifications in the Discord double', () => {
  it('notifies all mentioned users unless allowed mentions restrict the notifications', async () => {
    const { double, channel } = await startStage();
    double.grant(double.guildId, 'pingEveryone');
    const content = `@everyone <@${ANN}> <@${BEN}> \`<@200000000000000503>\``;
    await channel.send(content);
    await channel.send({ content, allowedMentions: { parse: [] } });
    await channel.send({ content, allowedMentions: { users: [BEN] } });
    expect(double.sends().map(({ pings }) => pings)).toEqual([
      { everyone: true, users: [ANN, BEN], roles: [], repliedUser: false },
      { everyone: false, users: [], roles: [], repliedUser: false },
      { everyone: false, users: [BEN], roles: [], repliedUser: false },
    ]);
  });

  it('notifies @everyone only with the permission', async () => {
    const { double, channel } = await startStage();
    await channel.send('@everyone');
    expect(double.sends().at(-1)?.pings.everyone).toBe(false);
  });

  it('notifies the author of the quoted message unless allowed mentions exclude the author', async () => {
    const { double, hears } = await startStage();
    double.say({ channel: double.channelId, from: ANN, text: 'hi' });
    const [message] = await hears(1);
    await message?.reply('loud');
    await message?.reply({ content: 'quiet', allowedMentions: { repliedUser: false } });
    expect(double.sends().map(({ pings }) => pings.repliedUser)).toEqual([true, false]);
  });
});

describe('[U04] rate limits of the Discord double', () => {
  it('sends rate limits in headers, which discord.js obeys without being rejected', async () => {
    const narrow = { count: 2, windowMs: 600 };
    const wide = { count: 500, windowMs: 1000 };
    const { double, channel } = await startStage({
      limits: { messages: narrow, routes: wide, global: wide },
    });
    await Promise.all([1, 2, 3, 4, 5].map((number) => channel.send(`${number}`)));
    const seen = double.conversation(double.channelId).map(({ visible }) => visible);
    expect(seen).toEqual(['1', '2', '3', '4', '5']);
    expect(double.calls('POST /channels/').map(({ outcome }) => outcome)).toEqual(
      Array(5).fill(200),
    );
  });

  it('rejects a client that ignores the rate limit headers', async () => {
    const narrow = { count: 1, windowMs: 60_000 };
    const wide = { count: 500, windowMs: 1000 };
    const { double } = await startStage({
      limits: { messages: narrow, routes: wide, global: wide },
    });
    const post = () =>
      fetch(`${double.apiRoot}/v10/channels/${double.channelId}/messages`, {
        method: 'POST',
        headers: { authorization: `Bot ${double.token}`, 'content-type': 'application/json' },
        body: '{"content":"now"}',
      });
    expect((await post()).status).toBe(200);
    const refused = await post();
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ global: false, retry_after: expect.any(Number) });
    expect(double.sends()).toHaveLength(1);
  });

  it.each([false, true])(
    'responds with 429 when a fault requests it (global: %s), and discord.js retries',
    async (global) => {
      const { double, channel } = await startStage();
      double.fault({ kind: 'rate-limit', retryAfterMs: 50, global });
      await channel.send('later');
      expect(double.calls('POST /channels/').map(({ outcome }) => outcome)).toEqual([429, 200]);
    },
  );
});
