import { silentLogger } from '@parley/core';
import { openTurnQueue } from '@parley/queue';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type RedisServer, startRedisServer } from '../services/redis-server.ts';

/** About 54, and more when the worker polls again; polling at each end of a job would add ten. */
const COMMANDS_OF_A_WAKE_UP = 60;
const WAKE_UPS = 20;

describe.runIf(inject('redisUrl'))('the cost of a conversation for Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  /** Commands so far, including those inside scripts but without this test's own queries. */
  async function commands(admin: Redis): Promise<number> {
    const counts = (await admin.info('commandstats')).matchAll(/cmdstat_(\w+):calls=(\d+)/g);
    return [...counts].reduce((sum, [, name, n]) => (name === 'info' ? sum : sum + Number(n)), 0);
  }

  it('[D16] has a limit on the number of commands for a wake-up, from the gateway to the end of its job', async () => {
    const [gateway, turns] = [
      await openTurnQueue({ url: server.url, log: silentLogger }),
      await openTurnQueue({ url: server.url, log: silentLogger }),
    ];
    let ran = (): void => {};
    const worker = await turns.work(async () => {
      ran();
      return null;
    }, 50);
    const admin = new Redis(server.url);
    let looks = 0;
    const depth = () => {
      looks += 1;
      return gateway.depth();
    };
    const once = async (): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      ran = resolve;
      await gateway.wake('c');
      await promise;
      await expect.poll(depth).toEqual({ waiting: 0, active: 0, delayed: 0 });
    };
    await once();
    const asked = await commands(admin);
    await gateway.depth();
    const ofLook = (await commands(admin)) - asked;
    const before = await commands(admin);
    looks = 0;
    for (let i = 0; i < WAKE_UPS; i += 1) await once();
    const spent = (await commands(admin)) - before;
    const each = (spent - looks * ofLook) / WAKE_UPS;
    expect(each).toBeLessThanOrEqual(COMMANDS_OF_A_WAKE_UP);
    admin.disconnect();
    await worker.close(0);
    await Promise.all([gateway.close(), turns.close()]);
  });
});
