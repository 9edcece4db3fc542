import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDueToday } from '@parley/core/testing';
import { openStore, type Store } from '@parley/store';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { type FaultyProxy, startFaultyProxy } from '../services/faulty-proxy.ts';
import { createFreshDatabase, type FreshDatabase } from '../services/fresh-database.ts';
import type { Member } from './member.ts';
import { type DeploymentScene, openScene } from './scene.ts';

const [redisUrl, postgresUrl] = [inject('redisUrl'), inject('postgresUrl')];

describe.runIf(postgresUrl)('a connection pool whose PostgreSQL stops responding', () => {
  let database: FreshDatabase;
  let proxy: FaultyProxy;
  let store: Store;
  beforeAll(async () => {
    database = await createFreshDatabase(postgresUrl ?? '');
    proxy = await startFaultyProxy(database.url);
    // Two of the connections are reserved for leases. On a busy machine, connecting or a query may take more than a
    // second; both limits together stay below the eight seconds asserted.
    const limits = { connections: 7, connectSeconds: 3, querySeconds: 2 };
    store = await openStore({ url: proxy.url, clock: () => 0, ...limits });
  });
  afterEach(() => proxy.restore());
  afterAll(async () => {
    await store.close();
    await proxy.close();
    await database.drop();
  });

  /** Returns how long an operation takes to fail, in ms; the error must be retryable. */
  const failsIn = async (work: () => Promise<unknown>): Promise<number> => {
    const before = performance.now();
    await expect(work()).rejects.toMatchObject({ code: 'store-unreachable', retryable: true });
    return performance.now() - before;
  };
  const take = (name: string) => store.leases.acquire(name, 'me', 1);

  it('[D13] gives up a query, and with it every idle connection that is at least as old', async () => {
    await Promise.all(Array.from({ length: 5 }, () => store.ping()));
    const open = proxy.connections;
    expect(open).toBe(5);
    proxy.swallow('open');
    expect(await failsIn(() => store.ping())).toBeLessThan(8_000);
    // One dead connection was detected; a query on one of the four others would fail after two
    // seconds.
    for (let nth = 0; nth < 5; nth += 1) await store.ping();
  });

  it('[D13] gives up a transaction, a connection attempt, and a place in the queue for a connection', async () => {
    await Promise.all(Array.from({ length: 5 }, () => store.ping()));
    proxy.swallow();
    expect(await failsIn(() => take('lease'))).toBeLessThan(8_000);
    expect(await failsIn(() => store.ping())).toBeLessThan(8_000);
    await Promise.all(Array.from({ length: 12 }, () => failsIn(() => store.ping())));
    await proxy.restore();
    await store.ping();
  });

  it.each([
    ['resets', () => proxy.reset()],
    ['half-closes', () => proxy.halfClose('to-client')],
    ['says nothing back on', () => proxy.swallow('open', 'to-client')],
  ])('[D13] works again immediately when the network %s connections', async (_what, fault) => {
    await store.ping();
    fault();
    await store.ping().catch(() => undefined);
    await store.ping();
  });
});

const CHATS = Array.from({ length: 6 }, (_, nth) => 701 + nth);
/** Longer than every deadline, so that retries fail as well. */
const SILENCE_MS = 18_000;
/**
 * The deadline of a probe, in ms. Lower than every database deadline, because once those have
 * passed the probe would respond, too.
 */
const PROBED_WITHIN_MS = 4_000;
/** The recovery time that D13 allows after the silence, in ms. */
const BACK_WITHIN_MS = 15_000;

describe.runIf(redisUrl && postgresUrl)(
  'a gateway and a worker whose servers stop responding',
  () => {
    let database: FreshDatabase;
    let postgres: FaultyProxy;
    let redis: FaultyProxy;
    let scene: DeploymentScene;
    let members: readonly [Member, Member];
    beforeAll(async () => {
      database = await createFreshDatabase(postgresUrl ?? '');
      postgres = await startFaultyProxy(database.url);
      redis = await startFaultyProxy(redisUrl ?? '');
      scene = await openScene(
        { redisUrl: redisUrl ?? '', postgresUrl: postgresUrl ?? '' },
        {
          store: { url: postgres.url },
          queue: { url: redis.url, prefix: `test-${randomBytes(8).toString('hex')}` },
        },
      );
      const { deployment } = scene;
      members = [await deployment.start('gateway'), await deployment.start('worker')];
      await scene.ask('hello');
    });
    afterAll(async () => {
      await scene.close();
      await Promise.all([postgres.close(), redis.close()]);
      await database.drop();
    });

    afterEach(() => Promise.all([postgres.restore(), redis.restore()]));

    /** Writes a message in each chat. */
    const askAll = (text: string) => {
      for (const chat of CHATS) scene.telegram.say({ chat, text });
    };
    const answersTo = (chat: number, text: string) =>
      scene.answers(chat).filter((answer) => answer === `You said: ${text}`).length;
    /**
     * Every gateway and worker reports that it is alive but not ready for this reason, without
     * waiting for the unresponsive server.
     */
    const expectNotReady = async (why: string) => {
      for (const member of members) {
        const before = performance.now();
        const [ready, alive] = await Promise.all([
          scene.deployment.get(member, '/readyz'),
          scene.deployment.get(member, '/healthz'),
        ]);
        expect(performance.now() - before).toBeLessThan(PROBED_WITHIN_MS);
        expect(ready).toMatchObject({ status: 503, body: expect.stringContaining(why) });
        expect(alive.status).toBe(200);
      }
    };

    // An outage takes 18 s, so a normal run tests only one of the two.
    const servers = [
      ['PostgreSQL', () => postgres, 'the database does not answer'],
      ['Redis', () => redis, 'the queue does not answer'],
    ] as const;
    it.each(servers.filter((_, nth) => isDueToday(nth, 2)))(
      '[D13] [D05] answer everyone once, soon after a silence of %s, and report in the meantime that they are not ready',
      async (name, proxyOf, why) => {
        const proxy = proxyOf();
        const texts = ['before', 'during', 'after'].map((when) => `${when} the silence of ${name}`);
        askAll(texts[0] ?? '');
        proxy.swallow();
        const until = Date.now() + SILENCE_MS;
        const isAnsweredMeanwhile = () =>
          CHATS.every((chat) => answersTo(chat, texts[1] ?? '') > 0);
        await expectNotReady(why);
        askAll(texts[1] ?? '');
        // Redis only carries wake-ups; without it, the workers' sweep finds the questions.
        if (name === 'Redis') await scene.telegram.waitFor(isAnsweredMeanwhile, BACK_WITHIN_MS);
        await sleep(until - Date.now() - 3_000);
        await expectNotReady(why);
        await sleep(until - Date.now());
        await proxy.restore();
        askAll(texts[2] ?? '');
        const isAnswered = () =>
          CHATS.every((chat) => texts.every((text) => answersTo(chat, text) > 0));
        await scene.telegram.waitFor(isAnswered, BACK_WITHIN_MS);
        for (const chat of CHATS) {
          expect(texts.map((text) => answersTo(chat, text))).toEqual([1, 1, 1]);
        }
        await expect
          .poll(async () => (await scene.deployment.get(members[0], '/readyz')).status)
          .toBe(200);
      },
    );
  },
);
