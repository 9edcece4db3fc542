import { silentLogger } from '@parley/core';
import { createRecordingLogger } from '@parley/core/testing';
import { openLiveBus, openTurnQueue, type RedisLocation } from '@parley/queue';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { type RedisServer, startRedisServer } from '../services/redis-server.ts';

const redisUrl = inject('redisUrl');
const SLOTS = 16_384;

/** Checks a queue and a bus on this Redis, for two processes. */
async function worksAt(place: RedisLocation): Promise<void> {
  const { log, lines } = createRecordingLogger();
  const [asking, working] = [
    await openTurnQueue({ ...place, log }),
    await openTurnQueue({ ...place, log }),
  ];
  const [one, two] = [await openLiveBus({ ...place, log }), await openLiveBus({ ...place, log })];
  const ran: string[] = [];
  const heard: string[] = [];
  two.subscribe((event) => heard.push(event.type));
  const handler = async (key: string) => {
    ran.push(key);
    return key === 'again' && ran.filter((each) => each === key).length === 1 ? 50 : null;
  };
  const worker = await working.work(handler, 5);
  await asking.wake('c1');
  await asking.wake('again');
  await expect.poll(() => ran.toSorted()).toEqual(['again', 'again', 'c1']);
  one.publish({ type: 'stop-turn', conversationId: 'c1' });
  await expect.poll(() => heard).toEqual(['stop-turn']);
  expect(lines).toEqual([]);
  await worker.close(0);
  await Promise.all([asking.close(), working.close(), one.close(), two.close()]);
}

describe.runIf(redisUrl)('a Redis Cluster', () => {
  let node: RedisServer;
  beforeAll(async () => {
    node = await startRedisServer({
      password: 'sesame',
      settings: ['cluster-enabled yes', 'cluster-announce-ip 127.0.0.1'],
    });
    const redis = new Redis(node.url);
    await redis.call('CLUSTER', 'ADDSLOTSRANGE', 0, SLOTS - 1);
    const info = async () => expect(await redis.call('CLUSTER', 'INFO')).toContain('state:ok');
    await vi.waitFor(info, 10_000);
    redis.disconnect();
  });
  afterAll(() => node.stop());

  it('[D09] carries wake-ups and live events', async () => {
    await worksAt({ url: node.url, cluster: { nodes: [`127.0.0.1:${node.port}`] } });
  });

  it('[D09] keeps all keys of the queue in one slot', async () => {
    const turns = await openTurnQueue({ url: node.url, cluster: { nodes: [] }, log: silentLogger });
    const worker = await turns.work(async () => 60_000, 1);
    for (const key of ['a', 'b', 'c']) await turns.wake(key);
    const redis = new Redis(node.url);
    const keys = async () => (await redis.keys('*')).filter((key) => key.includes(':turns:'));
    await expect.poll(async () => (await keys()).length).toBeGreaterThan(5);
    const slots = (await keys()).map((key) => redis.call('CLUSTER', 'KEYSLOT', key));
    expect(new Set(await Promise.all(slots))).toHaveProperty('size', 1);
    redis.disconnect();
    await worker.close(0);
    await turns.close();
  });
});

describe.runIf(redisUrl)('a Redis behind Sentinel', () => {
  it('[D09] is found by name, and found again when another server has become the master', async () => {
    const first = await startRedisServer({ password: 'sesame' });
    const second = await startRedisServer({
      password: 'sesame',
      settings: ['masterauth sesame', `replicaof 127.0.0.1 ${first.port}`],
    });
    const sentinel = await startRedisServer({
      sentinel: true,
      password: 'open',
      settings: [
        `sentinel monitor parley 127.0.0.1 ${first.port} 1`,
        'sentinel auth-pass parley sesame',
        'sentinel down-after-milliseconds parley 500',
        'sentinel failover-timeout parley 3000',
      ],
    });
    const place: RedisLocation = {
      url: 'redis://:sesame@nobody.invalid',
      sentinel: { name: 'parley', nodes: [`127.0.0.1:${sentinel.port}`], password: 'open' },
    };
    try {
      await worksAt(place);
      const asked = new Redis(sentinel.url);
      await expect.poll(() => asked.call('SENTINEL', 'REPLICAS', 'parley')).toHaveLength(1);
      asked.disconnect();
      const turns = await openTurnQueue({ ...place, log: silentLogger });
      const ran: string[] = [];
      const worker = await turns.work(async (key) => {
        ran.push(key);
        return null;
      }, 1);
      await first.kill();
      await expect
        .poll(
          async () => {
            await turns.wake('after');
            return ran;
          },
          { timeout: 40_000, interval: 500 },
        )
        .toContain('after');
      await worker.close(0);
      await turns.close();
    } finally {
      await Promise.all([sentinel.stop(), second.stop(), first.stop()]);
    }
  });
});
