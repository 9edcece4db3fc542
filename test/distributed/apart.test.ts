import { setTimeout as sleep } from 'node:timers/promises';
import { isDueToday } from '@parley/core/testing';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { listImages } from '../model/chat-request.ts';
import { type FaultyProxy, startFaultyProxy } from '../services/faulty-proxy.ts';
import type { Member } from './member.ts';
import { ANN, type DeploymentScene, openScene } from './scene.ts';

const [redisUrl, postgresUrl] = [inject('redisUrl'), inject('postgresUrl')];
const PNG = Uint8Array.from(Buffer.from('\u0089PNG\r\n\u001a\n and pixels', 'latin1'));

describe.runIf(redisUrl && postgresUrl)('gateway and workers with separate data folders', () => {
  let scene: DeploymentScene;
  let workers: readonly Member[];
  let redis: FaultyProxy;
  let postgres: FaultyProxy;
  beforeAll(async () => {
    redis = await startFaultyProxy(redisUrl ?? '');
    postgres = await startFaultyProxy(postgresUrl ?? '');
    scene = await openScene({ redisUrl: redis.url, postgresUrl: postgres.url });
    await scene.deployment.start('gateway');
    workers = [await scene.deployment.start('worker'), await scene.deployment.start('worker')];
  });
  afterAll(async () => {
    await scene.close();
    await Promise.all([redis.close(), postgres.close()]);
  });

  it('[F12] [D09] the gateway shows typing while a worker thinks', async () => {
    const { telegram, held } = scene;
    const thought = held.hold('think about it');
    const answered = scene.ask('think about it');
    await thought.asked;
    await telegram.waitFor(() => telegram.calls('sendChatAction').length > 0);
    thought.release();
    await answered;
  });

  it('[F09] [D09] /stop reaches the worker that runs the turn', async () => {
    const { telegram, held, answers } = scene;
    const endless = held.hold('an endless story');
    telegram.say({ chat: ANN, text: 'an endless story' });
    await endless.asked;
    telegram.say({ chat: ANN, text: '/stop' });
    // The worker must not stop because it lost its lease, which it would notice a moment later.
    await expect
      .poll(() => workers.map((worker) => worker.words()).join('\n'))
      .toMatch(/"outcome":"stopped"/);
    endless.release();
    await scene.ask('and now?');
    expect(answers()).toContain('Stopped.');
    expect(answers()).not.toContain('You said: an endless story');
  });

  it('[F10] [D09] a worker sees a picture that the gateway fetched', async () => {
    const { telegram, model, answers } = scene;
    telegram.say({ chat: ANN, text: 'what is it?', file: { kind: 'photo', bytes: PNG } });
    await telegram.waitFor(() => answers().includes('You said: what is it?'), 20_000);
    const pictures = listImages(model.requests.at(-1)?.body.messages.at(-1));
    expect(pictures).toEqual([{ mimeType: 'image/png', bytes: PNG }]);
  });

  it('[G13] [D09] a memory saved through one process is visible to all others', async () => {
    const { telegram, answers } = scene;
    await scene.ask('Remember that I like green tea.');
    await workers[0]?.end();
    telegram.say({ chat: ANN, text: '/memory' });
    await telegram.waitFor(() => answers().some((text) => text.includes('green tea')), 20_000);
    const before = answers().length;
    telegram.say({ chat: ANN, text: '/new' });
    await telegram.waitFor(() => answers().length > before, 20_000);
    await scene.ask('what do I like?');
    expect(JSON.stringify(scene.model.requests.at(-1)?.body)).toContain('I like green tea');
  });

  it('[D10] an outage of Redis or PostgreSQL takes only a few lines in the log of each process', async () => {
    const { telegram, deployment } = scene;
    // A normal run tests only one of the two servers.
    const servers = [redis, postgres].filter((_, nth) => isDueToday(nth, 2));
    for (const server of servers) {
      const members = deployment.members().map((one) => ({ one, from: one.words().length }));
      await server.cut();
      for (let second = 0; second < 5; second += 1) {
        for (let chat = 0; chat < 10; chat += 1) {
          telegram.say({ chat: 600 + chat, text: `question ${second}` });
        }
        await sleep(1_000);
      }
      await server.restore();
      for (const { one, from } of members) {
        const lines = () => one.words().slice(from).split('\n');
        await expect
          .poll(() => lines().filter((line) => /works again after \d+ s, \d+ errors/.test(line)), {
            timeout: 20_000,
          })
          .toHaveLength(1);
        const trouble = lines().filter((line) => /"level":"(warn|error)"/.test(line));
        expect(trouble.length).toBeGreaterThan(0);
        expect(trouble.length).toBeLessThanOrEqual(10);
      }
    }
    await telegram.waitFor(() => scene.answers(609).includes('You said: question 4'), 40_000);
  });
});
