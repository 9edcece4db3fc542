import { ChannelType, Events } from 'discord.js';
import { afterEach, describe, expect, it } from 'vitest';
import { startStage, stopStages } from './testing/discord-client.ts';

const ANN = '200000000000000501';
afterEach(stopStages);

describe('[U04] threads of the Discord double', () => {
  it("delivers people's messages in a thread and accepts the reply in the same thread", async () => {
    const { double, client, hears } = await startStage();
    const opened: string[] = [];
    client.on(Events.ThreadCreate, (thread) => opened.push(thread.name));
    const start = double.say({ channel: double.channelId, from: ANN, text: 'let us talk' });
    const thread = double.thread({
      channel: double.channelId,
      name: 'aside',
      from: ANN,
      message: start.id,
    });
    expect(thread).toBe(start.id);
    double.say({ channel: thread, from: ANN, text: 'in here' });
    const [, message] = await hears(2);
    expect(message?.channel).toMatchObject({ id: thread, parentId: double.channelId });
    expect(opened).toEqual(['aside']);
    await message?.reply('yes');
    expect(double.sends()).toMatchObject([
      { route: { guildId: double.guildId, channelId: double.channelId, threadId: thread } },
    ]);
    expect(double.conversation(double.channelId)).toHaveLength(1);
  });

  it('lets the bot open one thread per message', async () => {
    const { double, channel } = await startStage();
    const message = await channel.send('a topic');
    const thread = await message.startThread({ name: 'on it' });
    expect(thread.id).toBe(message.id);
    await thread.send('first');
    const free = await channel.threads.create({ name: 'free' });
    expect(free.parentId).toBe(double.channelId);
    expect(double.conversation(double.channelId)).toMatchObject([
      { visible: 'a topic' },
      { visible: 'free', message: { type: 18 } },
    ]);
    expect(double.conversation(thread.id)).toMatchObject([{ from: 'bot', visible: 'first' }]);
  });

  it('unarchives a thread when a message is sent, unless the thread is locked', async () => {
    const { double, channel } = await startStage();
    double.grant(double.guildId, 'manageThreads');
    const thread = await channel.threads.create({ name: 'old' });
    const message = await thread.send('before');
    await thread.setArchived(true);
    await expect(message.edit('changed')).rejects.toMatchObject({ code: 50083 });
    await thread.send('after');
    await message.edit('changed');
    await thread.setLocked(true);
    await expect(thread.send('too late')).rejects.toMatchObject({ code: 160005 });
  });

  it('gives the first message of a forum post the id of the post', async () => {
    const { double, client, hears } = await startStage();
    const forum = double.addChannel(double.guildId, 'questions', 'forum');
    const post = double.thread({ channel: forum, name: 'How?', from: ANN, text: 'Like this?' });
    const [question] = await hears(1);
    expect(question).toMatchObject({ id: post, channelId: post, content: 'Like this?' });
    const channel = await client.channels.fetch(forum);
    if (channel?.type !== ChannelType.GuildForum) throw new Error('No forum');
    const own = await channel.threads.create({ name: 'News', message: { content: 'All well' } });
    expect(double.sends()).toMatchObject([
      { messageId: own.id, route: { channelId: forum, threadId: own.id }, visible: 'All well' },
    ]);
  });
});

describe('[D04] nonces of the Discord double', () => {
  it('returns the same message for the same nonce while the nonce is remembered', async () => {
    let now = Date.now();
    const { double, channel } = await startStage({ clock: () => now });
    const send = () => channel.send({ content: 'once', nonce: 'part-1', enforceNonce: true });
    const first = await send();
    const second = await send();
    expect(second.id).toBe(first.id);
    expect(double.conversation(double.channelId)).toHaveLength(1);
    now += 10 * 60_000;
    expect((await send()).id).not.toBe(first.id);
  });

  it('allows duplicates unless the nonce is enforced, and refuses a nonce that is too long', async () => {
    const { double, channel } = await startStage();
    await channel.send({ content: 'twice', nonce: 'part-1' });
    await channel.send({ content: 'twice', nonce: 'part-1' });
    expect(double.sends()).toHaveLength(2);
    const nonce = 'n'.repeat(26);
    await expect(channel.send({ content: 'x', nonce })).rejects.toMatchObject({ code: 50035 });
  });
});

describe('[U04] history, reactions and typing in the Discord double', () => {
  it('lists messages newest first, before and after a given message', async () => {
    const { double, channel } = await startStage();
    const ids = ['1', '2', '3', '4', '5'].map(
      (text) => double.say({ channel: double.channelId, from: ANN, text }).id,
    );
    const list = async (options: { limit: number; before?: string; after?: string }) =>
      [...(await channel.messages.fetch(options)).values()].map(({ content }) => content);
    expect(await list({ limit: 2 })).toEqual(['5', '4']);
    expect(await list({ limit: 2, before: ids[2] ?? '' })).toEqual(['2', '1']);
    expect(await list({ limit: 2, after: ids[1] ?? '' })).toEqual(['4', '3']);
  });

  it('delivers reactions in both directions', async () => {
    const { double, client, channel } = await startStage();
    const seen: string[] = [];
    client.on(Events.MessageReactionAdd, ({ emoji }, user) => {
      if (user.id === ANN) seen.push(`+${emoji.name}`);
    });
    client.on(Events.MessageReactionRemove, ({ emoji }, user) => {
      if (user.id === ANN) seen.push(`-${emoji.name}`);
    });
    const message = await channel.send('vote');
    await message.react('👍');
    const put = { channel: double.channelId, message: message.id, from: ANN, emoji: '👍' };
    double.react(put);
    expect(double.conversation(double.channelId)).toMatchObject([
      { reactions: [{ emoji: { name: '👍' }, count: 2, me: true }] },
    ]);
    double.react({ ...put, gone: true });
    await expect.poll(() => seen).toEqual(['+👍', '-👍']);
    await expect(message.react('word')).rejects.toMatchObject({ code: 10014 });
  });

  it('delivers typing indicators in both directions', async () => {
    const { double, client, channel } = await startStage();
    const typing = new Promise((resolve) =>
      client.once(Events.TypingStart, ({ user }) => resolve(user.id)),
    );
    double.type(double.channelId, ANN);
    expect(await typing).toBe(ANN);
    await channel.sendTyping();
    expect(double.calls('POST /channels/')).toMatchObject([
      { call: `POST /channels/${double.channelId}/typing`, outcome: 204 },
    ]);
  });
});
