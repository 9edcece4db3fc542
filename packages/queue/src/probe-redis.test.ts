import { createServer } from 'node:net';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { probeRedis } from './connect-redis.ts';

const redisUrl = inject('redisUrl');
const within = (ms: number) => AbortSignal.timeout(ms);

describe.runIf(redisUrl)('probeRedis with a running Redis', () => {
  it('[U02] reports its version', async () => {
    const found = await probeRedis({ url: redisUrl ?? '' }, within(5_000));
    expect(found).toMatchObject({ kind: 'works', version: expect.stringMatching(/^\d+\.\d+/) });
  });

  it('[U02] reports a wrong password without showing it', async () => {
    const found = await probeRedis(
      { url: redisUrl ?? '', password: 'not-this-one' },
      within(5_000),
    );
    expect(found).toMatchObject({
      kind: 'problem',
      reason: expect.stringMatching(/WRONGPASS|AUTH/),
    });
    expect(JSON.stringify(found)).not.toContain('not-this-one');
  });
});

describe('probeRedis', () => {
  it('[U02] fails immediately if no server listens at the address', async () => {
    const found = await probeRedis({ url: 'redis://127.0.0.1:1' }, within(60_000));
    expect(found).toMatchObject({
      kind: 'problem',
      reason: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('[U02] fails at the deadline if the server does not reply', async () => {
    const server = createServer(() => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const found = await probeRedis({ url: `redis://127.0.0.1:${port}` }, within(200));
    expect(found).toEqual({ kind: 'problem', reason: 'no answer in time' });
  });
});
