import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { type FaultyProxy, startFaultyProxy } from '../services/faulty-proxy.ts';
import { type FreshDatabase, freshDatabase } from '../services/fresh-database.ts';
import {
  type DataFolder,
  makeDataFolder,
  type ParleyProcess,
  startParleyProcess,
} from './parley-process.ts';

const [redisUrl, postgresUrl] = [inject('redisUrl'), inject('postgresUrl')];

describe.runIf(redisUrl && postgresUrl)('a process whose database or queue is away', () => {
  let database: FreshDatabase;
  let postgres: FaultyProxy;
  let redis: FaultyProxy;
  let folder: DataFolder;
  let parley: ParleyProcess;
  beforeEach(async () => {
    database = await freshDatabase(postgresUrl ?? '');
    postgres = await startFaultyProxy(database.url);
    redis = await startFaultyProxy(redisUrl ?? '');
    folder = makeDataFolder({
      model: 'offline',
      http: { port: 0 },
      store: { url: postgres.url },
      queue: { url: redis.url, prefix: `test-${randomBytes(8).toString('hex')}` },
    });
    parley = await startParleyProcess(folder.path);
  });
  afterEach(async () => {
    await parley.end('SIGKILL');
    await Promise.all([postgres.close(), redis.close()]);
    await database.drop();
    folder.remove();
  });

  async function ready(): Promise<string> {
    const response = await fetch(`${parley.address}/readyz`);
    return `${response.status} ${(await response.text()).trim()}`;
  }
  async function gauge(name: string): Promise<number | null> {
    const headers = { authorization: `Bearer ${parley.token}` };
    const text = await (await fetch(`${parley.address}/metrics`, { headers })).text();
    const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
    return value === undefined ? null : Number(value);
  }
  const becomes = (words: string) => expect.poll(ready, { timeout: 20_000 }).toBe(words);

  it('[D10] says that it is not ready, why, and that it lives; and is ready again after that', async () => {
    await becomes('200 ready');
    expect(await gauge('parley_database_up')).toBe(1);
    await redis.cut();
    await becomes('503 the queue does not answer');
    expect((await fetch(`${parley.address}/healthz`)).status).toBe(200);
    expect(await gauge('parley_database_up')).toBe(1);
    await redis.restore();
    await becomes('200 ready');
    await postgres.cut();
    await becomes('503 the database does not answer');
    expect((await fetch(`${parley.address}/healthz`)).status).toBe(200);
    expect(await gauge('parley_database_up')).toBe(0);
    await postgres.restore();
    await becomes('200 ready');
    expect(await gauge('parley_database_up')).toBe(1);
  });
});
