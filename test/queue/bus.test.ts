import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LiveEvent, silentLogger } from '@parley/core';
import { createRecordingLogger } from '@parley/core/testing';
import { type BusOptions, type OpenLiveBus, openLiveBus } from '@parley/queue';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { type RedisServer, startRedisServer } from '../services/redis-server.ts';

const redisUrl = inject('redisUrl');

const stop = (conversationId: string): LiveEvent => ({ type: 'stop-turn', conversationId });
const ref = { conversationId: 'c', turnId: 't' };
const delta = (text: string): LiveEvent => ({ type: 'turn-delta', ...ref, text });

describe.runIf(redisUrl)('the live bus between processes', () => {
  let server: RedisServer;
  const opened: OpenLiveBus[] = [];
  beforeAll(async () => {
    server = await startRedisServer({ password: 'sesame' });
  });
  afterEach(() => Promise.all(opened.splice(0).map((bus) => bus.close())));
  afterAll(() => server.stop());

  async function open(change: Partial<BusOptions> = {}) {
    const bus = await openLiveBus({ url: server.url, log: silentLogger, ...change });
    opened.push(bus);
    const heard: LiveEvent[] = [];
    bus.subscribe((event) => heard.push(event));
    return { bus, heard };
  }

  it("[D09] a process receives its own events immediately and once, and other processes' events in order", async () => {
    const [one, two] = [await open(), await open()];
    one.bus.publish(stop('a'));
    expect(one.heard).toEqual([stop('a')]);
    one.bus.publish(stop('b'));
    await expect.poll(() => two.heard).toEqual([stop('a'), stop('b')]);
    two.bus.publish(stop('c'));
    await expect.poll(() => one.heard).toEqual([stop('a'), stop('b'), stop('c')]);
    expect(two.heard).toEqual([stop('a'), stop('b'), stop('c')]);
  });

  it("[U12] pages at all gateways are refreshed, except for a change that concerns only this gateway's pages", async () => {
    const gateways = [await open({ receives: 'turns' }), await open({ receives: 'turns' })];
    const worker = await open({ receives: 'orders' });
    const [here, there] = gateways;
    const changed: LiveEvent = { type: 'inbox-changed' };
    here?.bus.publish({ ...changed, isLocal: true });
    here?.bus.publish(delta('after it'));
    await expect.poll(() => there?.heard).toEqual([delta('after it')]);
    expect(here?.heard).toEqual([{ ...changed, isLocal: true }, delta('after it')]);
    for (const { bus } of [...gateways, worker]) bus.publish(changed);
    for (const { heard } of gateways) {
      await expect
        .poll(() => heard.filter(({ type }) => type === changed.type).at(-3))
        .toBeDefined();
    }
    expect(there?.heard.slice(1)).toEqual([changed, changed, changed]);
  });

  it("[D09] gateway and worker in separate processes receive each other's relevant events", async () => {
    const gateway = await open({ receives: 'turns' });
    const program = join(import.meta.dirname, 'bus-process.ts');
    const worker = spawn(process.execPath, [program, server.url]);
    let said = '';
    worker.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    await expect.poll(() => said).toContain('ready');
    gateway.bus.publish(delta('of this process alone'));
    gateway.bus.publish(stop('mine'));
    await expect.poll(() => said).toContain('stop mine');
    expect(said).not.toContain('unasked');
    gateway.heard.splice(0);
    worker.stdin.write('go\n');
    await expect.poll(() => gateway.heard.at(-1)?.type).toBe('turn-ended');
    const text = gateway.heard.map((event) => (event.type === 'turn-delta' ? event.text : ''));
    expect(text.join('')).toBe(Array.from({ length: 500 }, (_, i) => `${i} `).join(''));
    // Text that waited for Redis was joined, instead of sending 500 events of one word each.
    expect(gateway.heard.length).toBeLessThan(400);
    worker.stdin.end();
    const [code] = await once(worker, 'exit');
    expect(code).toBe(0);
  });

  it("installations with different prefixes do not receive each other's events", async () => {
    const [here, there] = [await open({ prefix: 'one' }), await open({ prefix: 'two' })];
    const listener = await open({ prefix: 'one' });
    there.bus.publish(stop('theirs'));
    here.bus.publish(stop('ours'));
    await expect.poll(() => listener.heard).toEqual([stop('ours')]);
  });

  it('a listener that throws does not affect the others', async () => {
    const { log, lines } = createRecordingLogger();
    const [one, two] = [await open({ log }), await open()];
    one.bus.subscribe(() => {
      throw new Error('a defect');
    });
    const after: LiveEvent[] = [];
    one.bus.subscribe((event) => after.push(event));
    two.bus.publish(stop('x'));
    await expect.poll(() => after).toEqual([stop('x')]);
    expect(lines).toEqual([
      'a live event listener failed {"event":"stop-turn","reason":"a defect"}',
    ]);
  });

  it('messages from unknown senders are ignored', async () => {
    const [one, two] = [await open(), await open()];
    const { Redis } = await import('ioredis');
    const stranger = new Redis(server.url);
    await stranger.publish('parley:live:orders', 'not JSON');
    await stranger.publish('parley:live:orders', '{"from":"x","events":[{"type":"new-thing"},7]}');
    two.bus.publish(stop('known'));
    await expect.poll(() => one.heard).toEqual([stop('known')]);
    stranger.disconnect();
  });

  it('a closed bus publishes nothing more and does not keep a process alive', async () => {
    const [one, two] = [await open(), await open()];
    one.bus.publish(stop('last'));
    await one.bus.close();
    one.bus.publish(stop('too late'));
    await expect.poll(() => two.heard).toEqual([stop('last')]);
    await sleep(50);
    expect(two.heard).toEqual([stop('last')]);
    expect(one.heard).toEqual([stop('last'), stop('too late')]);
  });
});

describe.runIf(redisUrl)('the live bus while Redis is away', () => {
  it('[D09] loses events, keeps working within the process, and recovers afterwards', async () => {
    const server = await startRedisServer();
    const { log, lines } = createRecordingLogger();
    const one = await openLiveBus({ url: server.url, log });
    const two = await openLiveBus({ url: server.url, log: silentLogger });
    const [here, there]: [LiveEvent[], LiveEvent[]] = [[], []];
    one.subscribe((event) => here.push(event));
    two.subscribe((event) => there.push(event));
    try {
      await server.kill();
      for (let i = 0; i < 2_000; i += 1) one.publish(delta('lost'));
      expect(here).toHaveLength(2_000);
      await expect.poll(() => lines.join('\n')).toContain('are not reaching');
      // The log uses this field to combine many such lines into a few.
      expect(lines.filter((line) => !line.includes('"outage":"Redis at'))).toEqual([]);
      await server.start();
      await expect
        .poll(() => {
          one.publish(stop('back'));
          return there.some((event) => event.type === 'stop-turn');
        })
        .toBe(true);
      expect(there.length).toBeLessThan(100);
    } finally {
      await Promise.all([one.close(), two.close()]);
      await server.stop();
    }
  });

  it('[D09] is not blocked by an unresponsive Redis, and drops events instead of growing', async () => {
    const server = await startRedisServer();
    const one = await openLiveBus({ url: server.url, log: silentLogger });
    const two = await openLiveBus({ url: server.url, log: silentLogger });
    const there: LiveEvent[] = [];
    two.subscribe((event) => there.push(event));
    try {
      server.freeze();
      const word = 'x'.repeat(10_000);
      for (let i = 0; i < 1_000; i += 1) one.publish(delta(word));
      await sleep(7_000);
      server.thaw();
      await expect
        .poll(() => {
          one.publish(stop('back'));
          return there.some((event) => event.type === 'stop-turn');
        })
        .toBe(true);
      const text = there.map((event) => (event.type === 'turn-delta' ? event.text : '')).join('');
      expect(text.length).toBeLessThanOrEqual(1_010_000);
    } finally {
      await Promise.all([one.close(), two.close()]);
      await server.stop();
    }
  });

  it('can be opened before Redis is running', async () => {
    const server = await startRedisServer();
    await server.kill();
    const { log, lines } = createRecordingLogger();
    const bus = await openLiveBus({ url: server.url, log });
    expect(lines.join('\n')).toContain('Redis cannot be used; trying again');
    const other = await (async () => {
      await server.start();
      return openLiveBus({ url: server.url, log: silentLogger });
    })();
    const heard: LiveEvent[] = [];
    bus.subscribe((event) => heard.push(event));
    try {
      await expect
        .poll(() => {
          other.publish(stop('early'));
          return heard.length;
        })
        .toBeGreaterThan(0);
    } finally {
      await Promise.all([bus.close(), other.close()]);
      await server.stop();
    }
  });
});

describe('the address of the bus', () => {
  it('is reported without its password when it cannot be used', async () => {
    const opening = openLiveBus({ url: 'postgres://me:geheim@host', log: silentLogger });
    await expect(opening).rejects.toMatchObject({ name: 'QueueError', code: 'queue-url' });
    await expect(opening).rejects.not.toThrow('geheim');
  });
});
