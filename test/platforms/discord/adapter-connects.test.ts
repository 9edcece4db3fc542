import { createServer } from 'node:http';
import type { GatewayFault } from '@parley/simulators/discord';
import { afterEach, describe, expect, it } from 'vitest';
import { ANN, type DiscordScene, endScenes, startDiscordScene } from './adapter-scene.ts';

afterEach(endScenes);

const say = ({ double }: DiscordScene, text: string) =>
  double.say({ channel: double.channelId, from: ANN, text });
const texts = ({ received }: DiscordScene) => received.map(({ text }) => text);
const kinds = ({ states }: DiscordScene) => states.map(({ kind }) => kind);

describe('the Discord adapter', () => {
  it('connects and reports its name', async () => {
    const { connect, states } = await startDiscordScene();
    await connect();
    expect(states).toEqual([{ kind: 'starting' }, { kind: 'connected', as: '@parley-test' }]);
  });

  it('stops after one attempt with an invalid token, and says how to get a new token', async () => {
    const { double, adapter, states } = await startDiscordScene({
      settings: { token: 'wrong.token.here' },
    });
    await adapter.start();
    const failed = await double.waitFor(() => states.find(({ kind }) => kind === 'failed'));
    expect(failed).toMatchObject({ reason: 'Discord refuses the bot token' });
    expect(failed).toMatchObject({ fix: expect.stringContaining('Reset Token') });
    expect(double.calls('GET /gateway/bot')).toHaveLength(1);
  });

  it('does not connect without the Message Content Intent, and says where to enable it', async () => {
    const { double, adapter, states } = await startDiscordScene({ double: { portalIntents: 0 } });
    await adapter.start();
    const failed = await double.waitFor(() => states.find(({ kind }) => kind === 'failed'));
    expect(failed).toMatchObject({ fix: expect.stringContaining('Privileged Gateway Intents') });
    expect(failed).toMatchObject({ fix: expect.stringContaining('messageContent') });
    expect(double.calls('GET /gateway/bot')).toHaveLength(1);
  });

  it('connects without the Message Content Intent if the settings allow it, and still reads messages addressed to the bot', async () => {
    const scene1 = await startDiscordScene({
      double: { portalIntents: 0 },
      settings: { messageContent: false },
    });
    await scene1.connect();
    say(scene1, 'not for you');
    say(scene1, `<@${scene1.double.me.id}> for you`);
    scene1.double.say({ channel: scene1.double.dmWith(ANN), text: 'for you alone' });
    await scene1.hears(3);
    expect(texts(scene1)).toEqual(['', 'for you', 'for you alone']);
  });

  it('[D08] notifies the owner once when messages arrive without their text', async () => {
    const here = await startDiscordScene();
    await here.connect();
    here.double.portal(0);
    for (const text of ['one', 'two', 'three', 'four']) say(here, text);
    say(here, `<@${here.double.me.id}> five`);
    await here.hears(5);
    expect(texts(here)).toEqual(['', '', '', '', 'five']);
    expect(here.notes).toEqual([expect.stringMatching(/^no content \d{4}-\d\d-\d\d$/)]);
  });

  it('connects later when the daily login limit is reached', async () => {
    const { double, adapter, states, waits } = await startDiscordScene({
      double: { sessionStarts: 0 },
    });
    await adapter.start();
    await double.waitFor(() => waits.length > 0);
    expect(states.at(-1)).toMatchObject({ kind: 'retrying' });
    expect(waits[0]).toBeGreaterThan(3_600_000);
  });

  it('connects as soon as Discord can be reached', async () => {
    // A port on which no server listens.
    const closed = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => closed.once('listening', resolve));
    const address = closed.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await new Promise((resolve) => closed.close(resolve));
    const { double, adapter, states, waits } = await startDiscordScene({
      settings: { apiRoot: `http://127.0.0.1:${port}/api` },
    });
    await adapter.start();
    await double.waitFor(() => states.filter(({ kind }) => kind === 'retrying').length >= 3);
    expect(waits.slice(0, 3)).toEqual([500, 1_000, 2_000]);
    await adapter.stop();
    expect(states.at(-1)).toEqual({ kind: 'stopped' });
  });

  it.each<GatewayFault>([
    { kind: 'drop' },
    { kind: 'reconnect' },
    { kind: 'invalid-session', resumable: true },
    { kind: 'close', code: 4000 },
    { kind: 'close', code: 4009 },
    { kind: 'close', code: 1012 },
  ])('[D01] reconnects after %o, without losing or duplicating anything', async (fault) => {
    const scene1 = await startDiscordScene();
    await scene1.connect();
    scene1.double.fault(fault);
    say(scene1, 'while away');
    await scene1.double.waitFor(() => scene1.double.gateway().resumes > 0);
    say(scene1, 'after');
    await scene1.hears(2);
    await scene1.double.waitFor(() => kinds(scene1).at(-1) === 'connected');
    expect(texts(scene1)).toEqual(['while away', 'after']);
    expect(scene1.double.gateway().identifies).toBe(1);
  });

  it('[D01] reconnects when the gateway falls silent', async () => {
    const scene1 = await startDiscordScene({ double: { heartbeatMs: 1_000 } });
    await scene1.connect();
    scene1.double.fault({ kind: 'silence' });
    say(scene1, 'into the void');
    await scene1.hears(1);
    await scene1.double.waitFor(() => kinds(scene1).at(-1) === 'connected');
    expect(kinds(scene1)).toContain('retrying');
  });

  it('does not reconnect after the token was revoked', async () => {
    const scene1 = await startDiscordScene();
    await scene1.connect();
    scene1.double.fault({ kind: 'close', code: 4004 });
    await scene1.double.waitFor(() => kinds(scene1).at(-1) === 'failed');
    expect(scene1.double.gateway().identifies).toBe(1);
  });

  it('connects with the number of shards in the settings', async () => {
    const { double, connect } = await startDiscordScene({ settings: { shards: 2 } });
    await connect();
    expect(double.gateway()).toMatchObject({ identifies: 2, connections: 2 });
  });

  it('does not reconnect after a stop, even between two attempts', async () => {
    const { double, adapter, connect, states } = await startDiscordScene();
    await connect();
    double.fault({ kind: 'drop' });
    await double.waitFor(() => states.at(-1)?.kind === 'retrying');
    await adapter.stop();
    expect(states.at(-1)).toEqual({ kind: 'stopped' });
    // discord.js would reconnect half a second after the drop.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(double.gateway()).toMatchObject({ connections: 0, resumes: 0, identifies: 1 });
  });
});
