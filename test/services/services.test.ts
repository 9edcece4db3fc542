import { Redis } from 'ioredis';
import { Client } from 'pg';
import { describe, expect, inject, it } from 'vitest';
import { createFreshDatabase } from './fresh-database.ts';
import { createRedisPrefix } from './fresh-redis-prefix.ts';
import { openChromium } from './open-chromium.ts';

const redisUrl = inject('redisUrl');
const postgresUrl = inject('postgresUrl');
const chromiumUrl = inject('chromiumUrl');

describe.runIf(redisUrl)('the private Redis', () => {
  it('accepts commands at the provided URL', async () => {
    const redis = new Redis(redisUrl ?? '');
    const key = `${createRedisPrefix()}:greeting`;
    await redis.set(key, 'hello', 'EX', 60);
    expect(await redis.get(key)).toBe('hello');
    await redis.quit();
  });
});

describe.runIf(postgresUrl)('the private PostgreSQL', () => {
  it('gives every test file its own empty database and drops it afterwards', async () => {
    const database = await createFreshDatabase(postgresUrl ?? '');
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const tables = await client.query(
      `select count(*)::int as n from pg_tables where schemaname = 'public'`,
    );
    expect(tables.rows).toEqual([{ n: 0 }]);
    await client.end();
    await database.drop();
    const gone = new Client({ connectionString: database.url });
    await expect(gone.connect()).rejects.toThrow('does not exist');
  });
});

describe.runIf(chromiumUrl)('the browser', () => {
  it('shows a page', async () => {
    const browser = await openChromium(chromiumUrl ?? '');
    const page = await browser.newPage();
    await page.setContent('<h1>Hello</h1>');
    expect(await page.getByRole('heading').textContent()).toBe('Hello');
    await browser.close();
  });
});
