import { setTimeout as sleep } from 'node:timers/promises';
import { isDueToday } from '@parley/core/testing';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { createWebClient } from '../e2e/web-client.ts';
import { type DeploymentScene, openScene } from './scene.ts';

/**
 * The number of tests that lose a gateway; a normal run includes one of them each day. The
 * simulation kills and pauses gateways at any step.
 */
const LOSSES = 2;
const [redisUrl, postgresUrl] = [inject('redisUrl'), inject('postgresUrl')];

describe.runIf(redisUrl && postgresUrl)('several gateways', () => {
  let scene: DeploymentScene;
  beforeEach(async () => {
    scene = await openScene({ redisUrl: redisUrl ?? '', postgresUrl: postgresUrl ?? '' });
  });
  afterEach(() => scene.close());

  if (isDueToday(0, LOSSES))
    it('[D09] [D01] serve an account one at a time, and another gateway takes over after a kill or a shutdown', async () => {
      const { deployment, stateOf, ask } = scene;
      const first = await deployment.startApart('gateway');
      await deployment.start('worker');
      const second = await deployment.start('gateway');
      await expect.poll(() => stateOf(first)).toMatchObject({ kind: 'connected' });
      const holder = expect.stringContaining(`(${first.pid})`);
      await expect.poll(() => stateOf(second)).toEqual({ kind: 'standby', holder });
      await ask('one');
      // The code is 1 while a channel is still connecting; answers on Telegram do not wait for
      // that.
      await expect.poll(async () => (await deployment.command('status')).code).toBe(0);
      const { out } = await deployment.command('status');
      expect(out).toMatch(/^channel {3}telegram\/default: /m);
      for (const { role, pid, address } of deployment.members()) {
        expect(out).toMatch(
          new RegExp(`^process {3}${role} on .* \\(${pid}\\) at ${address},`, 'm'),
        );
      }
      await first.end('SIGKILL');
      await ask('two');
      expect(await stateOf(second)).toMatchObject({ kind: 'connected' });
      await expect.poll(() => stateOf(second, 'discord')).toMatchObject({ kind: 'connected' });
      const third = await deployment.start('gateway');
      await second.end();
      const fourth = await deployment.start('gateway');
      await ask('three');
      // For each account, one gateway is connected and the other on standby.
      for (const channel of ['telegram', 'discord']) {
        const kinds = async () =>
          (await Promise.all([third, fourth].map((one) => stateOf(one, channel)))).map(
            ({ kind }) => kind,
          );
        await expect.poll(async () => (await kinds()).toSorted()).toEqual(['connected', 'standby']);
      }
      expect(scene.answers()).toEqual(['You said: one', 'You said: two', 'You said: three']);
    });

  if (isDueToday(1, LOSSES))
    it('[D09] [D04] stop sending after a pause in which they lost their account', async () => {
      const { deployment, stateOf, ask, telegram } = scene;
      const paused = await deployment.startApart('gateway');
      await deployment.start('worker');
      await ask('one');
      const other = await deployment.start('gateway');
      telegram.fault({ kind: 'delay', method: 'sendMessage', ms: 2_000, times: 1 });
      telegram.say({ chat: 501, text: 'two' });
      await telegram.waitFor(() => telegram.calls('sendMessage').length === 2, 10_000);
      paused.signal('SIGSTOP');
      await ask('three', 30_000);
      expect(await stateOf(other)).toMatchObject({ kind: 'connected' });
      paused.signal('SIGCONT');
      await expect.poll(() => stateOf(paused)).toMatchObject({ kind: 'standby' });
      await sleep(1_000);
      const said = scene.answers().filter((text) => text.startsWith('You said'));
      expect(new Set(said).size).toBe(said.length);
      expect(said).toContain('You said: three');
      const uncertain = scene
        .answers()
        .filter((text) => text.includes('interrupted while sending'));
      expect(said.includes('You said: two') ? 1 : uncertain.length).toBe(1);
      await ask('four');
      expect(await stateOf(other)).toMatchObject({ kind: 'connected' });
    });

  it('[D09] [F03] all serve the web page: a message sent to one gateway appears at every gateway', async () => {
    const { deployment } = scene;
    const gateways = [
      await deployment.start('gateway'),
      await deployment.start('gateway'),
    ] as const;
    await deployment.start('worker');
    const [here, there] = gateways.map(({ address }) =>
      createWebClient({ address, token: deployment.token }),
    );
    const events = [listen(gateways[0].address), listen(gateways[1].address)];
    await here?.post('hello');
    for (const heard of events) {
      await expect.poll(() => heard.parts()).toEqual([expect.stringContaining('You said: hello')]);
    }
    await there?.post('again');
    for (const heard of events) await expect.poll(() => heard.parts()).toHaveLength(2);
    expect(await here?.history()).toEqual(await there?.history());
    for (const heard of events) heard.close();
  });

  /** Watches the web chat at a gateway; each part is counted once, by its id. */
  function listen(address: string) {
    const ended = new AbortController();
    const parts = new Map<string, string>();
    const watch = async (): Promise<void> => {
      const headers = { authorization: `Bearer ${scene.deployment.token}` };
      const url = `${address}/channels/web/default/events`;
      const { body } = await fetch(url, { headers, signal: ended.signal });
      for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
        for (const [, json = ''] of chunk.matchAll(/^data: (.*)$/gm)) {
          const event = JSON.parse(json);
          if (event.type === 'part') parts.set(event.partId, event.text);
        }
      }
    };
    watch().catch(() => undefined);
    return { parts: () => [...parts.values()], close: () => ended.abort() };
  }
});
