import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createFreshDatabase, type FreshDatabase } from '../services/fresh-database.ts';
import { type RedisServer, startRedisServer } from '../services/redis-server.ts';
import type { Member } from './member.ts';
import { type DeploymentScene, openScene } from './scene.ts';

const [redisUrl, postgresUrl] = [inject('redisUrl'), inject('postgresUrl')];
const CHATS = [801, 802, 803];
/** D13. */
const ANSWERED_WITHIN_MS = 15_000;

describe.runIf(redisUrl && postgresUrl)('a Redis that responds but does not accept writes', () => {
  let database: FreshDatabase;
  let server: RedisServer;
  let redis: Redis;
  let scene: DeploymentScene;
  let members: readonly [Member, Member];
  beforeAll(async () => {
    database = await createFreshDatabase(postgresUrl ?? '');
    server = await startRedisServer();
    redis = new Redis(server.url);
    scene = await openScene(
      { redisUrl: server.url, postgresUrl: postgresUrl ?? '' },
      { store: { url: database.url }, queue: { url: server.url } },
    );
    members = [await scene.deployment.start('gateway'), await scene.deployment.start('worker')];
    await scene.ask('hello');
  });
  afterAll(async () => {
    redis.disconnect();
    await scene.close();
    await server.stop();
    await database.drop();
  });

  const readiness = async () =>
    Promise.all(members.map(async (member) => await scene.deployment.get(member, '/readyz')));

  it.each([
    ['is full', ['maxmemory', '1'], ['maxmemory', '0']],
    ['only reads', ['min-replicas-to-write', '1'], ['min-replicas-to-write', '0']],
  ] as const)(
    '[D13] [D10] does not delay answers because it %s, and is reported as unhealthy',
    async (what, broken, works) => {
      await redis.config('SET', ...broken);
      for (const answer of await readiness()) {
        expect(answer).toMatchObject({
          status: 503,
          body: expect.stringContaining('the queue does not answer'),
        });
      }
      const text = `to a Redis that ${what}`;
      for (const chat of CHATS) scene.telegram.say({ chat, text });
      const answered = () =>
        CHATS.every((chat) => scene.answers(chat).includes(`You said: ${text}`));
      await scene.telegram.waitFor(answered, ANSWERED_WITHIN_MS);
      await redis.config('SET', ...works);
      await expect
        .poll(async () => (await readiness()).map(({ status }) => status))
        .toEqual([200, 200]);
      for (const chat of CHATS) {
        const times = scene.answers(chat).filter((one) => one === `You said: ${text}`);
        expect(times).toHaveLength(1);
      }
    },
  );
});
