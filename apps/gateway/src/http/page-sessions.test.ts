import { recordingLogger } from '@parley/core';
import { openStore, type Store } from '@parley/store';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { createHttpApp } from './app.ts';
import { startHttp } from './server.ts';

const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;
const FIRST_TOKEN = 'the-first-token-of-this-gateway-123';

const Opened = z.object({ session: z.string(), expiresAt: z.number() });
const Listed = z.object({
  sessions: z.array(z.looseObject({ id: z.string(), usedAt: z.number(), isCurrent: z.boolean() })),
});

let now: number;
let token: string;
let store: Store;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  now = 1_000_000_000_000;
  token = FIRST_TOKEN;
  store = await openStore({ url: 'sqlite::memory:', clock: () => now });
});
afterEach(async () => {
  vi.useRealTimers();
  await store.close();
});

/** A gateway on the database that all of them share; its web channel has a stream that ends with its reader. */
async function gateway() {
  const { log, lines } = recordingLogger();
  let cancelled = 0;
  const stream = () =>
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('data: {}\n\n')),
      cancel: () => {
        cancelled += 1;
      },
    });
  const headers = { 'content-type': 'text/event-stream' };
  const app = createHttpApp({
    host: '127.0.0.1',
    token: () => token,
    page: { fetch: () => new Response('the page') },
    sessions: {
      repository: store.pageSessions,
      limits: { idleMs: 12 * HOUR, longestMs: 30 * DAY },
    },
    clock: () => now,
    log,
    metrics: async () => '',
    status: () => [],
    report: async () => ({ agent: 'Parley' }),
    inspector: {
      list: async () => ({}),
      prompt: async () => null,
      compare: async () => null,
      preview: async () => ({}),
    },
    heartbeat: { report: async () => ({}), request: async () => ({}) },
    ping: async () => undefined,
    channel: () => ({ fetch: async () => new Response(stream(), { headers }) }),
  });
  const server = await startHttp(
    { host: '127.0.0.1', port: 0, log, scrub: (text) => text },
    async () => app,
  );
  onTestFinished(() => server.close());
  const ask = (path: string, secret?: string, init: RequestInit = {}) =>
    fetch(`${server.address}${path}`, {
      ...init,
      headers: { ...(secret && { authorization: `Bearer ${secret}` }), ...init.headers },
    });
  const signIn = (given = token, headers: Record<string, string> = {}) =>
    ask('/api/sessions', undefined, {
      method: 'POST',
      headers: { 'user-agent': 'Firefox', ...headers },
      body: JSON.stringify({ token: given }),
    });
  const session = async (): Promise<string> => Opened.parse(await (await signIn()).json()).session;
  const status = async (secret: string) => (await ask('/api/status', secret)).status;
  const list = async (secret: string) =>
    Listed.parse(await (await ask('/api/sessions', secret)).json()).sessions;
  return { ask, signIn, session, status, list, lines, cancelled: () => cancelled };
}

describe('a session of the page', () => {
  it('[U03] is opened by the token, never contains it, and is stored as a hash', async () => {
    const { signIn, status, list } = await gateway();
    const response = await signIn();
    expect([response.status, response.headers.get('set-cookie')]).toEqual([201, null]);
    const { session, expiresAt } = Opened.parse(await response.json());
    expect(session).toMatch(/^parley_session_[\w-]{43}$/);
    expect(expiresAt).toBe(now + 12 * HOUR);
    expect(await status(session)).toBe(200);
    const [stored] = await store.pageSessions.list(now);
    expect(stored?.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(stored)).not.toContain(session.slice(20));
    expect(await list(session)).toEqual([
      {
        ...{ id: stored?.id, userAgent: 'Firefox', network: 'this-machine', isCurrent: true },
        ...{ createdAt: now, usedAt: now, expiresAt },
      },
    ]);
  });

  it('[U03] lasts twelve hours after its last use and thirty days in all', async () => {
    const { session, status } = await gateway();
    const [used, unused] = [await session(), await session()];
    const end = now + 30 * DAY;
    now += 12 * HOUR - 1;
    expect(await status(used)).toBe(200);
    now += 1;
    expect([await status(used), await status(unused)]).toEqual([200, 401]);
    while (now + 11 * HOUR < end) {
      now += 11 * HOUR;
      expect(await status(used)).toBe(200);
    }
    now = end - 1;
    expect(await status(used)).toBe(200);
    now = end;
    expect(await status(used)).toBe(401);
  });

  it('[U03] costs a read for each request, and a write once a minute at most', async () => {
    const { session, status, list } = await gateway();
    const secret = await session();
    now += 59_000;
    await status(secret);
    expect((await list(secret))[0]?.usedAt).toBe(now - 59_000);
    now += 1_000;
    await status(secret);
    expect((await list(secret))[0]?.usedAt).toBe(now);
  });

  it('[U03] [D09] of one gateway is one of the others, also when it ends', async () => {
    const [one, two] = [await gateway(), await gateway()];
    const secret = await one.session();
    expect(await two.status(secret)).toBe(200);
    expect((await two.ask('/api/sessions/current', secret, { method: 'DELETE' })).status).toBe(200);
    expect([await one.status(secret), await two.status(secret)]).toEqual([401, 401]);
  });

  it('[U03] ends at once with its streams, and leaves those of others alone', async () => {
    const { ask, session, list, cancelled } = await gateway();
    const [mine, lost] = [await session(), await session()];
    const streams = [
      await ask('/channels/web/default/events', mine),
      await ask('/channels/web/default/events', lost),
    ];
    const [kept, ended] = streams.map(({ body }) => body?.getReader());
    for (const reader of [kept, ended]) expect((await reader?.read())?.done).toBe(false);
    const [other] = (await list(mine)).filter(({ isCurrent }) => !isCurrent);
    expect((await ask(`/api/sessions/${other?.id}`, mine, { method: 'DELETE' })).status).toBe(200);
    expect((await ended?.read())?.done).toBe(true);
    await expect.poll(cancelled).toBe(1);
    expect((await ask(`/api/sessions/${other?.id}`, mine, { method: 'DELETE' })).status).toBe(404);
    await kept?.cancel();
    await expect.poll(cancelled).toBe(2);
  });

  it('[U03] that another process has ended is noticed by its streams within seconds', async () => {
    const { ask, session } = await gateway();
    const reader = (await ask('/channels/web/default/events', await session())).body?.getReader();
    await reader?.read();
    await store.pageSessions.end('all');
    await vi.advanceTimersByTimeAsync(2_000);
    expect((await reader?.read())?.done).toBe(true);
  });

  it('[U03] ends when the token is replaced, and so do streams that the old token opened', async () => {
    const { ask, session, status, list } = await gateway();
    const secret = await session();
    const streams = [
      await ask('/channels/web/default/events', secret),
      await ask('/channels/terminal/default/events', token),
    ].map(({ body }) => body?.getReader());
    for (const reader of streams) await reader?.read();
    token = 'the-second-token-of-this-gateway-12';
    expect([await status(secret), await status(FIRST_TOKEN), await status(token)]).toEqual([
      401, 401, 200,
    ]);
    await vi.advanceTimersByTimeAsync(2_000);
    for (const reader of streams) expect((await reader?.read())?.done).toBe(true);
    expect(await list(token)).toEqual([]);
  });

  it('[U03] opens no other: only the token does', async () => {
    const { session, signIn } = await gateway();
    expect((await signIn(await session())).status).toBe(401);
  });

  it.each(['', '{}', '{"token":1}', '{"token":" "}'])('[U03] is not opened by %j', async (body) => {
    const { ask } = await gateway();
    expect((await ask('/api/sessions', undefined, { method: 'POST', body })).status).toBe(400);
  });

  it('[U03] is opened by a token that was pasted with spaces around it, from no other site', async () => {
    const { signIn } = await gateway();
    expect((await signIn(` ${token}\n`)).status).toBe(201);
    expect((await signIn(token, { origin: 'https://evil.example' })).status).toBe(403);
  });

  it('[U03] continues while wrong tokens are slowed down, which are not compared meanwhile', async () => {
    const { signIn, session, status, ask, lines } = await gateway();
    const secret = await session();
    for (let nth = 0; nth < 6; nth += 1) expect((await signIn('wrong')).status).toBe(401);
    const slow = await signIn(token);
    expect([slow.status, slow.headers.get('retry-after')]).toEqual([429, '1']);
    expect((await ask('/api/status', token)).status).toBe(429);
    expect(await status(secret)).toBe(200);
    expect((await ask('/api/sessions', secret)).status).toBe(200);
    now += 1_000;
    expect((await ask('/api/status', token)).status).toBe(200);
    const logged = JSON.stringify(lines);
    expect(logged).toContain('a wrong token was sent');
    for (const hidden of [secret, token]) expect(logged).not.toContain(hidden);
  });

  it('[U03] says where it was opened; what a proxy claims counts for nothing', async () => {
    const { signIn } = await gateway();
    await signIn(token, { 'x-forwarded-for': '127.0.0.1' });
    expect((await store.pageSessions.list(now)).map(({ network }) => network)).toEqual(['proxy']);
  });
});
