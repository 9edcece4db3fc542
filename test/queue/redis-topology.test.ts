import { recordingLogger, silentLogger } from '@parley/contracts';
import { openBus, openQueues, type RedisPlace } from '@parley/queue';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { type RedisServer, startRedisServer } from '../services/redis-server.ts';

const redisUrl = inject('redisUrl');
const SLOTS = 16_384;

/** A queue and a bus do their work there, for two processes. */
async function worksAt(place: RedisPlace): Promise<void> {
  const { log, lines } = recordingLogger();
  const [asking, working] = [
    await openQueues({ ...place, log }),
    await openQueues({ ...place, log }),
  ];
  const [one, two] = [await openBus({ ...place, log }), await openBus({ ...place, log })];
  const ran: string[] = [];
  const heard: string[] = [];
  two.subscribe((event) => heard.push(event.type));
  const handler = async (key: string) => {
    ran.push(key);
    return key === 'again' && ran.filter((each) => each === key).length === 1 ? 50 : null;
  };
  const queues = [working.lanes, working.deliveries('telegram', 'main')];
  const workers = await Promise.all(queues.map((queue) => queue.work(handler, 5)));
  await asking.lanes.kick('c1');
  await asking.lanes.kick('again');
  await asking.deliveries('telegram', 'main').kick('chat');
  await expect.poll(() => ran.toSorted()).toEqual(['again', 'again', 'c1', 'chat']);
  one.publish({ type: 'stop-turn', conversationId: 'c1' });
  await expect.poll(() => heard).toEqual(['stop-turn']);
  expect(lines).toEqual([]);
  await Promise.all(workers.map((worker) => worker.close(0)));
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

  it('[D09] carries queues and live events', async () => {
    await worksAt({ url: node.url, cluster: { nodes: [`127.0.0.1:${node.port}`] } });
  });

  it('[D09] is given all keys of a queue in one slot, and other queues in others', async () => {
    const queues = await openQueues({ url: node.url, cluster: { nodes: [] }, log: silentLogger });
    const worker = await queues.lanes.work(async () => 60_000, 1);
    for (const key of ['a', 'b', 'c']) await queues.lanes.kick(key);
    await queues.deliveries('telegram', 'main').kick('chat');
    const redis = new Redis(node.url);
    const slotsOf = async (queue: string) => {
      const keys = (await redis.keys('*')).filter((key) => key.includes(`:${queue}:`));
      const slots = await Promise.all(keys.map((key) => redis.call('CLUSTER', 'KEYSLOT', key)));
      return { keys: keys.length, slots: [...new Set(slots)] };
    };
    await expect.poll(async () => (await slotsOf('lanes')).keys).toBeGreaterThan(5);
    const [lanes, deliveries] = [await slotsOf('lanes'), await slotsOf('deliveries-telegram-main')];
    expect(lanes.slots).toHaveLength(1);
    expect(deliveries.slots).toHaveLength(1);
    expect(deliveries.slots).not.toEqual(lanes.slots);
    redis.disconnect();
    await worker.close(0);
    await queues.close();
  });
});

describe.runIf(redisUrl)('a Redis behind Sentinel', () => {
  it('[D09] is found by its name, and found again when another one has become the master', async () => {
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
    const place: RedisPlace = {
      url: 'redis://:sesame@nobody.invalid',
      sentinel: { name: 'parley', nodes: [`127.0.0.1:${sentinel.port}`], password: 'open' },
    };
    try {
      await worksAt(place);
      const asked = new Redis(sentinel.url);
      await expect.poll(() => asked.call('SENTINEL', 'REPLICAS', 'parley')).toHaveLength(1);
      asked.disconnect();
      const queues = await openQueues({ ...place, log: silentLogger });
      const ran: string[] = [];
      const worker = await queues.lanes.work(async (key) => {
        ran.push(key);
        return null;
      }, 1);
      await first.kill();
      await expect
        .poll(
          async () => {
            await queues.lanes.kick('after');
            return ran;
          },
          { timeout: 40_000, interval: 500 },
        )
        .toContain('after');
      await worker.close(0);
      await queues.close();
    } finally {
      await Promise.all([sentinel.stop(), second.stop(), first.stop()]);
    }
  });
});
