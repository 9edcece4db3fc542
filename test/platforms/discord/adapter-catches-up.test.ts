import type { AdapterValues } from '@parley/core';
import { createInMemoryAdapterValues } from '@parley/core/testing';
import type { GatewayFault } from '@parley/simulators/discord';
import { StoreError } from '@parley/store';
import { afterEach, describe, expect, it } from 'vitest';
import { accepted } from '../adapter-core.ts';
import { ANN, type DiscordScene, endScenes, startDiscordScene } from './adapter-scene.ts';

afterEach(endScenes);

const texts = ({ received }: DiscordScene) => received.map(({ text }) => text);

const unable = async () => {
  throw new Error('disk full');
};

/** An offline bot that has received one message in a channel and one in a direct chat. */
async function away(): Promise<{ before: DiscordScene; values: AdapterValues; dm: string }> {
  const values = createInMemoryAdapterValues();
  const before = await startDiscordScene({ values });
  const { double } = before;
  await before.connect();
  const dm = double.dmWith(ANN);
  double.say({ channel: double.channelId, from: ANN, text: 'before' });
  double.say({ channel: dm, text: 'before, alone' });
  await before.hears(2);
  await before.adapter.stop();
  return { before, values, dm };
}

describe('[D01] messages sent while the Discord bot was offline', () => {
  it('are fetched in order, from channels and direct chats, before new messages', async () => {
    const { before, values, dm } = await away();
    const { double } = before;
    for (let n = 1; n <= 150; n += 1)
      double.say({ channel: double.channelId, from: ANN, text: `missed ${n}` });
    double.say({ channel: dm, text: 'missed, alone' });
    const after = await startDiscordScene({ values, on: double });
    await after.connect();
    double.say({ channel: double.channelId, from: ANN, text: 'now' });
    await after.hears(152);
    const inChannel = after.received.filter(({ chat }) => chat.id === double.channelId);
    expect(inChannel.map(({ text }) => text)).toEqual([
      ...Array.from({ length: 150 }, (_, n) => `missed ${n + 1}`),
      'now',
    ]);
    expect(inChannel[0]).toMatchObject({ chat: { title: 'Test guild #general' } });
    expect(texts(after)).toContain('missed, alone');
    expect(texts(after)).not.toContain('before');
  });

  it('are fetched from new threads, posts and channels too', async () => {
    const { before, values } = await away();
    const { double } = before;
    const forum = double.addChannel(double.guildId, 'help', 'forum');
    const post = double.thread({ channel: forum, name: 'broken', from: ANN, text: 'new post' });
    const other = double.addChannel(double.guildId, 'other');
    double.say({ channel: other, from: ANN, text: 'new channel' });
    const after = await startDiscordScene({ values, on: double });
    await after.connect();
    await after.hears(2);
    expect(texts(after).sort()).toEqual(['new channel', 'new post']);
    expect(after.received.find(({ text }) => text === 'new post')?.chat).toMatchObject({
      id: forum,
      threadId: post,
    });
  });

  it('are fetched from a channel even if nobody had written there before', async () => {
    const values = createInMemoryAdapterValues();
    const before = await startDiscordScene({ values });
    const { double } = before;
    await before.connect();
    await before.adapter.stop();
    double.say({ channel: double.channelId, from: ANN, text: 'the first of all' });
    const after = await startDiscordScene({ values, on: double });
    await after.connect();
    await after.hears(1);
    expect(texts(after)).toEqual(['the first of all']);
  });

  it('are fetched from a new channel even if a later direct message is delivered first', async () => {
    const { before, values } = await away();
    const { double } = before;
    const other = double.addChannel(double.guildId, 'other');
    double.say({ channel: other, from: ANN, text: 'new channel' });
    double.say({ channel: double.dmWith('200000000000000601'), text: 'hello?' });
    const after = await startDiscordScene({ values, on: double });
    await after.connect();
    await after.hears(2);
    expect(texts(after)).toEqual(['hello?', 'new channel']);
  });

  it('are fetched from direct chats without earlier messages', async () => {
    const { before, values } = await away();
    const { double } = before;
    const [first, second] = ['200000000000000601', '200000000000000602'].map(double.dmWith);
    double.say({ channel: first ?? '', text: 'hello?' });
    double.say({ channel: second ?? '', text: 'me too' });
    double.say({ channel: first ?? '', text: 'anyone?' });
    const after = await startDiscordScene({ values, on: double });
    await after.connect();
    double.say({ channel: first ?? '', text: 'now' });
    await double.waitFor(() => ['now', 'me too'].every((text) => texts(after).includes(text)));
    const heard = after.received.filter(({ chat }) => chat.id === first);
    // Both sessions may deliver the newest message, and the inbox recognizes the duplicate.
    expect([...new Set(heard.map(({ text }) => text))]).toEqual(['hello?', 'anyone?', 'now']);
    expect(heard[0]?.chat.type).toBe('direct');
  });

  it('are fetched from new direct chats even if the new session is faster than the resumed session', async () => {
    const { before, values } = await away();
    const { double } = before;
    const dm = double.dmWith('200000000000000601');
    const after = await startDiscordScene({ values, on: double });
    const connected = after.connect();
    await double.waitFor(() => double.gateway().resumes === 1);
    double.fault({ kind: 'lag', ms: 500 });
    double.say({ channel: dm, text: 'hello?' });
    await double.waitFor(() => double.gateway().identifies === 2);
    double.say({ channel: dm, text: 'anyone?' });
    await connected;
    await after.hears(2);
    expect(texts(after).slice(0, 2)).toEqual(['hello?', 'anyone?']);
    await after.adapter.stop();
    const next = await startDiscordScene({ values, on: double });
    await next.connect();
    double.say({ channel: dm, text: 'now' });
    await double.waitFor(() => texts(next).includes('now'));
  });

  it('are fetched from new direct chats again when they could not be stored before a stop', async () => {
    const { before, values } = await away();
    const { double } = before;
    double.say({ channel: double.dmWith('200000000000000601'), text: 'hello?' });
    const failing = await startDiscordScene({ values, on: double, receive: unable });
    await failing.connect();
    await failing.hears(1);
    await failing.adapter.stop();
    const after = await startDiscordScene({ values, on: double });
    await after.connect();
    await after.hears(1);
    expect(texts(after)).toEqual(['hello?']);
  });

  it('are not requested when there are none, or when nobody is served', async () => {
    const values = createInMemoryAdapterValues();
    const before = await startDiscordScene({
      values,
      receive: async ({ chat }) =>
        chat.type === 'direct' ? accepted : { kind: 'refused', reason: 'not served' },
    });
    const { double } = before;
    await before.connect();
    double.say({ channel: double.channelId, from: ANN, text: 'not for you' });
    await before.hears(1);
    await before.adapter.stop();
    const after = await startDiscordScene({ values, on: double });
    await after.connect();
    expect(double.calls(`GET /channels/${double.channelId}/messages`)).toEqual([]);
  });

  // These tests run concurrently, because discord.js waits five seconds before it identifies a
  // second time.
  it('are fetched after a session that could not be resumed', async () => {
    const faults: GatewayFault[][] = [
      [{ kind: 'invalid-session', resumable: false }],
      [{ kind: 'forget-sessions' }, { kind: 'drop' }],
      [{ kind: 'forget-sessions' }, { kind: 'close', code: 1000 }],
    ];
    const heard = faults.map(async (together) => {
      const here = await startDiscordScene();
      const { double } = here;
      await here.connect();
      double.say({ channel: double.channelId, from: ANN, text: 'before' });
      await here.hears(1);
      for (const fault of together) double.fault(fault);
      double.say({ channel: double.channelId, from: ANN, text: 'meanwhile' });
      await double.waitFor(() => here.received.length >= 2);
      expect(double.gateway().identifies).toBe(2);
      return texts(here);
    });
    const all = ['before', 'meanwhile'];
    expect(await Promise.all(heard)).toEqual([all, all, all]);
  });

  it('are requested again when Discord does not respond, but not when the bot lacks permission to read', async () => {
    const { before, values, dm } = await away();
    const { double } = before;
    double.say({ channel: double.channelId, from: ANN, text: 'missed' });
    double.fault({ kind: 'hang-up', call: `GET /channels/${double.channelId}/messages` });
    const call = `GET /channels/${dm}/messages`;
    double.fault({ kind: 'refuse', status: 403, code: 50001, message: 'Missing Access', call });
    const after = await startDiscordScene({ values, on: double });
    await after.connect();
    await after.hears(1);
    expect(texts(after)).toEqual(['missed']);
    expect(after.logged.join()).toContain('channel cannot be read');
  });

  it('are fetched after the next start when they could not be stored before a stop', async () => {
    const values = createInMemoryAdapterValues();
    const before = await startDiscordScene({
      values,
      receive: async ({ text }) => {
        if (text === 'second') throw new Error('disk full');
        return accepted;
      },
    });
    const { double } = before;
    await before.connect();
    for (const text of ['first', 'second', 'third'])
      double.say({ channel: double.channelId, from: ANN, text });
    await before.hears(2);
    await before.adapter.stop();
    const after = await startDiscordScene({ values, on: double });
    await after.connect();
    await after.hears(2);
    expect(texts(after)).toEqual(['second', 'third']);
  });

  it('are fetched even if the database was unavailable at the start', async () => {
    const { before, values, dm } = await away();
    const { double } = before;
    double.say({ channel: dm, text: 'missed, alone' });
    let failures = 2;
    const failing: AdapterValues = {
      ...values,
      get: async (kind, ids) => {
        failures -= 1;
        if (failures >= 0) throw new StoreError('store-unreachable', 'no database');
        return values.get(kind, ids);
      },
    };
    const after = await startDiscordScene({ values: failing, on: double });
    await after.connect();
    await after.hears(1);
    expect(texts(after)).toEqual(['missed, alone']);
  });

  it('are fetched from a new channel even if a newer message in another channel was stored first', async () => {
    const { before, values } = await away();
    const { double } = before;
    const other = double.addChannel(double.guildId, 'other');
    const stuck = await startDiscordScene({
      values,
      on: double,
      receive: async ({ text }) => {
        if (text === 'not stored') throw new Error('disk full');
        return accepted;
      },
    });
    await stuck.connect();
    double.say({ channel: other, from: ANN, text: 'not stored' });
    double.say({ channel: double.channelId, from: ANN, text: 'newer' });
    // Each attempt to store the first message counts as received.
    await double.waitFor(() => texts(stuck).includes('newer') && texts(stuck).length >= 2);
    await stuck.adapter.stop();
    const after = await startDiscordScene({ values, on: double });
    await after.connect();
    await after.hears(1);
    expect(texts(after)).toEqual(['not stored']);
  });

  it('[D02] come before messages redelivered in a later session, even if they could not be stored before a stop', async () => {
    const { before, values, dm } = await away();
    const { double } = before;
    double.say({ channel: dm, text: 'first' });
    double.fault({ kind: 'forget-sessions' });
    const failing = await startDiscordScene({ values, on: double, receive: unable });
    await failing.connect();
    await failing.hears(1);
    double.say({ channel: dm, text: 'second' });
    await failing.adapter.stop();
    const after = await startDiscordScene({ values, on: double });
    await after.connect();
    await after.hears(2);
    expect(texts(after)).toEqual(['first', 'second']);
  });
});
