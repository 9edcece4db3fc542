import { setTimeout as sleep } from 'node:timers/promises';
import { silentLogger } from '@parley/core';
import { createRecordingLogger } from '@parley/core/testing';
import { openTurnQueue, startSweep } from '@parley/queue';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { type RedisServer, startRedisServer } from '../services/redis-server.ts';

const redisUrl = inject('redisUrl');

describe.runIf(redisUrl)('the queue when Redis is restarted', () => {
  let server: RedisServer;
  const ends: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  afterAll(() => server.stop());

  async function open(prefix: string) {
    const { log, lines } = createRecordingLogger();
    const turns = await openTurnQueue({ url: server.url, prefix, log });
    ends.push(() => turns.close());
    return { turns, lines };
  }

  it('[D02] [D09] logs lost wake-ups and recovers by itself; the sweep finds the missed work', async () => {
    const { turns, lines } = await open('restart');
    // The state of the tables: which conversations have work, whatever happens to wake-ups.
    const waiting = new Set<string>();
    const worker = await turns.work(async (key) => {
      waiting.delete(key);
      return null;
    }, 10);
    ends.push(() => worker.close(0));
    const sweep = startSweep('turns', 200, silentLogger, async () => {
      for (const key of waiting) await turns.wake(key);
    });
    ends.push(() => sweep.stop());
    waiting.add('before');
    await expect.poll(() => waiting.size).toBe(0);

    await server.kill();
    waiting.add('meanwhile');
    await turns.wake('meanwhile');
    expect(lines.filter((line) => line.includes('the sweep will find the work'))[0]).toContain(
      '"key":"meanwhile"',
    );
    await sleep(1_000);
    expect(waiting.size).toBe(1);

    // Redis starts without any of its former data.
    await server.start();
    await expect.poll(() => waiting.size).toBe(0);
    waiting.add('after');
    await turns.wake('after');
    await expect.poll(() => waiting.size).toBe(0);
  });

  it('[D09] lets a job continue that Redis has forgotten, so the model is not asked twice', async () => {
    const { turns, lines } = await open('goes-on');
    const ends: string[] = [];
    let started = 0;
    const worker = await turns.work(async (_key, signal) => {
      started += 1;
      // Long enough for BullMQ to miss its lock, which it renews every five seconds.
      await sleep(7_000, undefined, { signal }).catch(() => undefined);
      ends.push(signal.aborted ? 'aborted' : 'finished');
      return null;
    }, 5);
    await turns.wake('one');
    await expect.poll(() => started).toBe(1);
    await server.kill();
    await server.start();
    await expect.poll(() => ends).toEqual(['finished']);
    await turns.wake('one');
    await expect.poll(() => started).toBe(2);
    await worker.close(0);
    expect(lines.join('\n')).toContain('could not renew lock');
  });

  it('[D02] does not run a key twice concurrently when its job was forgotten while running', async () => {
    const { turns } = await open('forgotten');
    let running = 0;
    let most = 0;
    let done = 0;
    const worker = await turns.work(async (_key, signal) => {
      running += 1;
      most = Math.max(most, running);
      await sleep(3_000, undefined, { signal }).catch(() => undefined);
      running -= 1;
      done += 1;
      return null;
    }, 1);
    ends.push(() => worker.close(0));
    await turns.wake('one');
    await expect.poll(() => running).toBe(1);
    await server.kill();
    await server.start();
    await expect
      .poll(async () => {
        await turns.wake('one');
        return done;
      })
      .toBeGreaterThan(1);
    expect(most).toBe(1);
  });

  it('[D11] can be closed while Redis is down, within little more than the grace period', async () => {
    const { turns } = await open('closing');
    const worker = await turns.work(async (_key, signal) => {
      await sleep(60_000, undefined, { signal }).catch(() => undefined);
      return null;
    }, 10);
    await turns.wake('long');
    await sleep(100);
    await server.kill();
    const started = performance.now();
    await worker.close(200);
    await turns.close();
    // The bound is loose: without a deadline, closing would wait until Redis is back.
    expect(performance.now() - started).toBeLessThan(10_000);
    await server.start();
  });

  it('can be opened before Redis is running, and wake-ups are not blocked', async () => {
    await server.kill();
    const { turns, lines } = await open('early');
    await turns.wake('early');
    expect(lines.join('\n')).toContain('wake-up not stored');
    const ran: string[] = [];
    const working = turns.work(async (key) => {
      ran.push(key);
      return null;
    }, 1);
    await server.start();
    const worker = await working;
    ends.push(() => worker.close(0));
    await expect
      .poll(async () => {
        await turns.wake('late');
        return ran;
      })
      .toContain('late');
  });

  it('an unresponsive Redis does not block wake-ups', async () => {
    const { turns, lines } = await open('frozen');
    server.freeze();
    await turns.wake('swallowed');
    server.thaw();
    expect(lines.join('\n')).toContain('wake-up not stored');
  });
});

describe.runIf(redisUrl)('a Redis that is configured as a cache', () => {
  it('[D10] is reported in one line when the queue is opened', async () => {
    const server = await startRedisServer({
      settings: ['maxmemory 100mb', 'maxmemory-policy allkeys-lru'],
    });
    const { log, lines } = createRecordingLogger();
    const turns = await openTurnQueue({ url: server.url, log });
    await turns.close();
    await server.stop();
    expect(lines).toEqual([
      'Redis discards wake-ups when its memory is full; set its maxmemory-policy to noeviction {"policy":"allkeys-lru"}',
    ]);
  });
});

describe.runIf(redisUrl)('two installations on one Redis', () => {
  it('[D09] do not affect each other when their prefixes differ', async () => {
    const server = await startRedisServer();
    const [one, two] = [
      await openTurnQueue({ url: server.url, prefix: 'one', log: silentLogger }),
      await openTurnQueue({ url: server.url, prefix: 'two', log: silentLogger }),
    ];
    const ran: string[] = [];
    const worker = await one.work(async (key) => {
      ran.push(key);
      return null;
    }, 1);
    await two.wake('theirs');
    await one.wake('ours');
    await expect.poll(() => ran).toEqual(['ours']);
    const redis = new Redis(server.url);
    const keys = await redis.keys('*');
    expect(keys.filter((key) => !/^\{(one|two):(\w+)\}:\2:/.test(key))).toEqual([]);
    redis.disconnect();
    await worker.close(0);
    await Promise.all([one.close(), two.close()]);
    await server.stop();
  });
});
