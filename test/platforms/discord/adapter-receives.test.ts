import { createInMemoryAdapterValues } from '@parley/core/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { noSignal } from '../adapter-core.ts';
import { ANN, createPart, endScenes, startDiscordScene } from './adapter-scene.ts';

const BEN = '200000000000000502';
afterEach(endScenes);

describe('receiving messages from Discord', () => {
  it('[F01] [F02] receives messages in a channel, with sender, chat and time', async () => {
    const { double, connect, hears } = await startDiscordScene();
    await connect();
    const said = double.say({ channel: double.channelId, from: ANN, text: 'hello <@7>' });
    expect(await hears(1)).toEqual({
      channel: 'discord',
      account: 'default',
      messageId: said.id,
      chat: { id: double.channelId, type: 'group', title: 'Test guild #general' },
      sender: { id: ANN, name: 'user0501', username: 'user0501', isBot: false, roles: [] },
      text: 'hello @user7',
      authored: { text: true },
      mentions: ['7'],
      addressed: false,
      sentAt: Date.parse(said.timestamp),
      variables: {},
    });
  });

  it('[F01] receives the first direct message after a start, which no channel event announced', async () => {
    const { double, connect, hears } = await startDiscordScene();
    await connect();
    const channel = double.dmWith(ANN);
    double.say({ channel, text: 'psst' });
    expect(await hears(1)).toMatchObject({
      chat: { id: channel, type: 'direct' },
      text: 'psst',
      addressed: true,
    });
  });

  it('[F01] [F11] receives threads and forum posts as threads of the channel they belong to', async () => {
    const { double, connect, hears, received } = await startDiscordScene();
    await connect();
    const forum = double.addChannel(double.guildId, 'help', 'forum');
    const thread = double.thread({ channel: double.channelId, name: 'plans', from: ANN });
    double.say({ channel: thread, from: ANN, text: 'in a thread' });
    const post = double.thread({ channel: forum, name: 'broken', from: ANN, text: 'first' });
    await hears(2);
    // The line "started a thread" in the parent channel does not have an author.
    expect(received.map(({ chat, text }) => [chat, text])).toEqual([
      [
        {
          id: double.channelId,
          type: 'thread',
          threadId: thread,
          title: 'Test guild #general › #plans',
        },
        'in a thread',
      ],
      [{ id: forum, type: 'thread', threadId: post, title: 'Test guild #help › #broken' }, 'first'],
    ]);
  });

  it('[F06] detects whether the bot is addressed: by name or by a reply to the bot, but not by a reply to others or @everyone', async () => {
    const { double, connect, hears, received, adapter } = await startDiscordScene();
    await connect();
    const say = (text: string, replyTo?: string) =>
      double.say({ channel: double.channelId, from: ANN, text, replyTo });
    const { platformMessageId: own } = await adapter.send(
      createPart(double.channelId, 'I am here'),
      noSignal(),
    );
    const other = say('anyone?');
    say(`<@${double.me.id}> /status`);
    say(`what does <@!${double.me.id}> say`);
    say('and?', own);
    say('indeed', other.id);
    say('@everyone hear hear');
    say(`<@&${double.botRoleId}> by its role`);
    await hears(7);
    expect(received.map(({ text, addressed }) => [text, addressed])).toEqual([
      ['anyone?', false],
      ['/status', true],
      ['what does @parley-test say', true],
      ['and?', true],
      ['indeed', false],
      ['@everyone hear hear', false],
      ['by its role', true],
    ]);
    expect(received[3]?.replyTo).toEqual({
      messageId: own,
      senderId: double.me.id,
      text: 'I am here',
    });
    expect(received[4]?.replyTo).toEqual({
      messageId: other.id,
      senderId: ANN,
      text: 'anyone?',
    });
  });

  it('[F07] marks messages from bots and webhooks, and does not receive its own messages', async () => {
    const { double, connect, hears, received, adapter } = await startDiscordScene();
    await connect();
    await adapter.send(createPart(double.channelId, 'mine'), noSignal());
    double.say({ channel: double.channelId, from: BEN, bot: true, text: 'beep' });
    double.say({ channel: double.channelId, webhook: 'news', text: 'extra' });
    await hears(2);
    expect(received.map(({ text, sender }) => [text, sender.isBot])).toEqual([
      ['beep', true],
      ['extra', true],
    ]);
  });

  it('[F05] receives the roles of senders in the server, and requests them for missed messages', async () => {
    const values = createInMemoryAdapterValues();
    const before = await startDiscordScene({ values });
    const { double } = before;
    double.promote(double.guildId, ANN);
    await before.connect();
    double.say({ channel: double.channelId, from: ANN, text: 'one' });
    double.say({ channel: double.channelId, from: BEN, text: 'two' });
    await before.hears(2);
    const roles = before.received.map(({ sender }) => sender.roles);
    expect(roles).toEqual([[double.moderatorRoleId], []]);
    await before.adapter.stop();
    double.say({ channel: double.channelId, from: ANN, text: 'missed' });
    const after = await startDiscordScene({ values, on: double });
    await after.connect();
    expect((await after.hears(1)).sender.roles).toBeUndefined();
    expect(await after.senders[0]?.roles?.(noSignal())).toEqual([double.moderatorRoleId]);
  });

  it('[F06] receives earlier messages, once for each channel and thread, if the settings ask for them', async () => {
    const { double, connect, hears, senders } = await startDiscordScene({
      settings: { history: 2 },
    });
    const { channelId, me } = double;
    for (const text of ['zero', 'one', 'two']) double.say({ channel: channelId, from: BEN, text });
    await connect();
    const ask = (channel: string) =>
      double.say({ channel, from: ANN, text: `<@${me.id}> what was said?` });
    ask(channelId);
    await hears(1);
    const before = (await senders[0]?.earlier?.(noSignal())) ?? [];
    expect(before.map(({ text, sender }) => [text, sender.id])).toEqual([
      ['one', BEN],
      ['two', BEN],
    ]);
    ask(channelId);
    ask(double.thread({ channel: channelId, name: 'plans', from: BEN, text: 'first' }));
    ask(double.dmWith(ANN));
    await hears(5);
    const offered = senders.slice(1).map((facts) => facts?.earlier !== undefined);
    expect(offered).toEqual([false, true, true, false]);
  });

  it("[F06] receives people's current reactions, but not its own", async () => {
    const { double, connect, adapter, reactions } = await startDiscordScene();
    await connect();
    const { channelId } = double;
    const [direct, thread] = [
      double.dmWith(ANN),
      double.thread({ channel: channelId, name: 'plans', from: BEN, text: 'x' }),
    ];
    const { platformMessageId: message } = await adapter.send(
      createPart(channelId, 'shall I?'),
      noSignal(),
    );
    const { platformMessageId: alone } = await adapter.send(
      createPart(direct, 'psst', { idempotencyKey: 'alone' }),
      noSignal(),
    );
    const below = double.conversation(thread)[0]?.id ?? '';
    await adapter.messages?.react?.({ chatId: channelId }, message, '👀');
    const react = (emoji: string, more: object = {}) =>
      double.react({ channel: channelId, message, from: ANN, emoji, ...more });
    react('👍');
    react('party:300000000000000001');
    react('👍', { gone: true });
    react('🎉', { channel: thread, message: below, from: BEN });
    react('❤️', { channel: direct, message: alone });
    react('❤️', { channel: direct, message: alone, gone: true });
    await double.waitFor(() => reactions.length === 6);
    const by = (chat: string) =>
      reactions.filter((one) => one.chat.id === chat && !one.chat.threadId);
    expect(by(channelId).map(({ emojis }) => emojis)).toEqual([
      ['👍'],
      ['👍', ':party:'],
      [':party:'],
    ]);
    expect(by(channelId)[0]).toMatchObject({
      ...{ channel: 'discord', account: 'default', messageId: message },
      sender: { id: ANN, username: 'user0501', isBot: false, roles: [] },
    });
    expect(reactions.find(({ chat }) => chat.threadId === thread)).toMatchObject({
      ...{ messageId: below, emojis: ['🎉'], sender: { id: BEN } },
    });
    expect(by(direct)).toMatchObject([
      { emojis: ['❤️'], chat: { type: 'direct' }, sender: { id: ANN, username: 'user0501' } },
      { emojis: [] },
    ]);
    // Each person is requested only once.
    expect(double.calls(`GET /users/${ANN}`)).toHaveLength(1);
  });

  it('receives edits and deletions by people as changes to their messages', async () => {
    const { double, connect, hears, revised } = await startDiscordScene();
    await connect();
    const thread = double.thread({ channel: double.channelId, name: 'plans', from: ANN });
    const { id } = double.say({ channel: thread, from: ANN, text: 'teh' });
    await hears(1);
    double.reword(thread, id, 'the');
    double.erase(thread, id);
    await double.waitFor(() => revised.length === 2);
    expect(revised).toEqual([
      { kind: 'edited', message: expect.objectContaining({ messageId: id, text: 'the' }) },
      { kind: 'deleted', chatId: double.channelId, messageId: id },
    ]);
  });

  it('[D01] receives messages again that could not be stored, before later messages', async () => {
    let broken = 2;
    const { double, connect, hears, received, waits } = await startDiscordScene({
      receive: async (message) => {
        if (message.text === 'one' && broken > 0) {
          broken -= 1;
          throw new Error('disk full');
        }
        return { kind: 'accepted', conversationId: 'c' };
      },
    });
    await connect();
    double.say({ channel: double.channelId, from: ANN, text: 'one' });
    double.say({ channel: double.channelId, from: ANN, text: 'two' });
    await hears(4);
    expect(received.map(({ text }) => text)).toEqual(['one', 'one', 'one', 'two']);
    expect(waits).toEqual([1_000, 2_000]);
  });
});
