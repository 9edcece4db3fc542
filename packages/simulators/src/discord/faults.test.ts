import { Events } from 'discord.js';
import { afterEach, describe, expect, it } from 'vitest';
import type { GatewayFault } from './faults.ts';
import { startStage, stopStages, type TestStage } from './testing/discord-client.ts';

const ANN = '200000000000000501';
afterEach(stopStages);

const says = ({ double }: TestStage, text: string) =>
  double.say({ channel: double.channelId, from: ANN, text });
const texts = ({ heard }: TestStage) => heard.map(({ content }) => content);
/** Waits until the bot has resumed or identified `count` times. */
const back = ({ double }: TestStage, kind: 'resumes' | 'identifies', count: number) =>
  double.waitFor(() => double.gateway()[kind] >= count);

describe('[U04] gateway faults of the Discord double', () => {
  it.each<GatewayFault>([
    { kind: 'drop' },
    { kind: 'reconnect' },
    { kind: 'invalid-session', resumable: true },
    { kind: 'close', code: 4000 },
    { kind: 'close', code: 4009 },
    { kind: 'close', code: 1012 },
  ])('resumes and catches up after the fault %o', async (fault) => {
    const scene = await startStage();
    scene.double.fault(fault);
    says(scene, 'while away');
    await back(scene, 'resumes', 1);
    says(scene, 'after');
    await scene.hears(2);
    expect(texts(scene)).toEqual(['while away', 'after']);
    expect(scene.double.gateway().identifies).toBe(1);
  });

  it('catches up after the client notices missing heartbeat acknowledgements', async () => {
    const scene = await startStage({ heartbeatMs: 1_000 });
    scene.double.fault({ kind: 'silence' });
    says(scene, 'into the void');
    await scene.hears(1);
    expect(scene.double.gateway().resumes).toBe(1);
  });

  // Both faults share one test because the client waits five seconds before it identifies a second
  // time.
  it('identifies again after op 9 or a forgotten session and misses the messages in between', async () => {
    const faults: GatewayFault[][] = [
      [{ kind: 'invalid-session', resumable: false }],
      [{ kind: 'forget-sessions' }, { kind: 'drop' }],
    ];
    const lostAndHeard = faults.map(async (together) => {
      const scene = await startStage();
      for (const fault of together) scene.double.fault(fault);
      says(scene, 'lost');
      await back(scene, 'identifies', 2);
      says(scene, 'after');
      await scene.hears(1);
      return texts(scene);
    });
    expect(await Promise.all(lostAndHeard)).toEqual([['after'], ['after']]);
  });

  it('delivers events twice and out of order', async () => {
    const scene = await startStage();
    const raw: unknown[] = [];
    // The test reads raw frames because discord.js drops a message whose id it already knows.
    scene.client.on(Events.Raw, ({ t, d }: { t: string; d: { content?: string } }) => {
      if (t === 'MESSAGE_CREATE') raw.push(d.content);
    });
    says(scene, 'join');
    scene.double.fault({ kind: 'duplicate', events: 1 });
    says(scene, 'echo');
    scene.double.fault({ kind: 'swap', pairs: 1 });
    says(scene, 'first');
    says(scene, 'second');
    await scene.hears(4);
    expect(raw).toEqual(['join', 'echo', 'echo', 'second', 'first']);
  });

  it('makes a guild unavailable and available again', async () => {
    const scene = await startStage();
    const { double, client, channel } = scene;
    const seen: string[] = [];
    client.on(Events.GuildUnavailable, () => seen.push('away'));
    client.on(Events.GuildAvailable, () => seen.push('back'));
    client.on(Events.GuildDelete, () => seen.push('kicked'));
    double.fault({ kind: 'guild-unavailable', guild: double.guildId });
    says(scene, 'nobody hears');
    double.fault({ kind: 'guild-back', guild: double.guildId });
    double.fault({ kind: 'kicked', guild: double.guildId });
    await expect.poll(() => seen).toEqual(['away', 'back', 'kicked']);
    expect(texts(scene)).toEqual([]);
    await expect(channel.send('hello?')).rejects.toMatchObject({ code: 50001 });
  });
});

describe('[U04] REST faults of the Discord double', () => {
  it('stores a message twice when a 500 follows storing, unless a nonce is enforced', async () => {
    const { double, channel } = await startStage();
    double.fault({ kind: 'status', status: 500, after: true });
    await channel.send('bare');
    double.fault({ kind: 'status', status: 502, after: true });
    await channel.send({ content: 'sure', nonce: '1', enforceNonce: true });
    const seen = double.conversation(double.channelId).map(({ visible }) => visible);
    expect(seen).toEqual(['bare', 'bare', 'sure']);
  });

  it('stores nothing when a 500 precedes storing', async () => {
    const { double, channel } = await startStage();
    double.fault({ kind: 'status', status: 500, times: 4 });
    await expect(channel.send('never')).rejects.toMatchObject({ status: 500 });
    expect(double.conversation(double.channelId)).toEqual([]);
  });

  it.each([
    [false, 0],
    [true, 1],
  ])(
    'fails the call after a hang-up (after storing: %s), with %i messages stored',
    async (after, stored) => {
      const { double, channel } = await startStage();
      double.fault({ kind: 'hang-up', after, call: 'POST /channels/', channel: double.channelId });
      await expect(channel.send('perhaps')).rejects.toThrow('other side closed');
      expect(double.conversation(double.channelId)).toHaveLength(stored);
      await channel.send('again');
    },
  );

  it.each([
    [false, 1],
    [true, 2],
  ])(
    'repeats the call after a reset (after storing: %s), with %i messages stored',
    async (after, stored) => {
      const { double, channel } = await startStage();
      double.fault({ kind: 'reset', after });
      await channel.send('perhaps');
      expect(double.conversation(double.channelId)).toHaveLength(stored);
    },
  );

  it('injects late answers, truncated JSON and refusals', async () => {
    const { double, channel } = await startStage();
    double.fault({ kind: 'delay', ms: 100 });
    await channel.send('late');
    double.fault({ kind: 'garbage' });
    await expect(channel.send('half')).rejects.toThrow();
    double.fault({ kind: 'refuse', status: 403, code: 20028, message: 'Slowmode' });
    await expect(channel.send('no')).rejects.toMatchObject({ code: 20028 });
    expect(double.sends().map(({ visible }) => visible)).toEqual(['late']);
  });
});
