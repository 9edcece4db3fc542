import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createFreshDatabase, type FreshDatabase } from '../services/fresh-database.ts';
import { startPgBouncer } from '../services/pgbouncer.ts';
import { type DeploymentScene, openScene } from './scene.ts';

const [redisUrl, postgresUrl] = [inject('redisUrl'), inject('postgresUrl')];
const pgbouncerPath = inject('pgbouncerPath');
const CHATS = Array.from({ length: 12 }, (_, nth) => 801 + nth);

describe.runIf(redisUrl && postgresUrl && pgbouncerPath)(
  'behind PgBouncer in transaction mode',
  () => {
    let database: FreshDatabase;
    let pooler: Awaited<ReturnType<typeof startPgBouncer>>;
    let scene: DeploymentScene;
    beforeAll(async () => {
      database = await createFreshDatabase(postgresUrl ?? '');
      pooler = await startPgBouncer(pgbouncerPath ?? '', database.url);
      scene = await openScene(
        { redisUrl: redisUrl ?? '', postgresUrl: postgresUrl ?? '' },
        { store: { url: pooler.url } },
      );
    });
    afterAll(async () => {
      await scene.close();
      await pooler.stop();
      await database.drop();
    });

    it('[D09] a gateway and two workers migrate, answer everyone once and take over', async () => {
      const { deployment, telegram, answers } = scene;
      const [gateway] = await Promise.all([
        deployment.start('gateway'),
        deployment.start('worker'),
        deployment.start('worker'),
      ]);
      const askAll = (text: string) => {
        for (const chat of CHATS) telegram.say({ chat, text });
      };
      const isAnswered = (text: string) =>
        CHATS.every((chat) => answers(chat).includes(`You said: ${text}`));
      for (const text of ['one', 'two']) askAll(text);
      await telegram.waitFor(() => isAnswered('two'), 30_000);
      // The lease of an account passes from one process to another.
      await gateway.end();
      const next = await deployment.start('gateway');
      askAll('three');
      await telegram.waitFor(() => isAnswered('three'), 30_000);
      for (const chat of CHATS) {
        expect(answers(chat)).toEqual(['one', 'two', 'three'].map((text) => `You said: ${text}`));
      }
      expect(await deployment.get(next, '/readyz')).toMatchObject({ status: 200 });
      for (const member of deployment.members())
        expect(member.words()).not.toMatch(/does not answer/);
    });

    it('[D09] does not leave settings on pooled connections that other clients reuse', async () => {
      const client = new Client({ connectionString: pooler.url });
      await client.connect();
      for (let nth = 0; nth < 8; nth += 1) {
        expect((await client.query('show lock_timeout')).rows).toEqual([{ lock_timeout: '0' }]);
      }
      await client.end();
    });
  },
);
