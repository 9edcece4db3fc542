import { openSecrets } from '@parley/core/telemetry';
import { createRecordingLogger } from '@parley/core/testing';
import type { Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import type { OperationServices } from '../operations.ts';
import { createHttpApp } from './app.ts';
import { startHttp } from './server.ts';
import { createTestStatus } from './testing/full-app.ts';

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
  store = await openMemoryStore({ clock: () => now });
});
afterEach(async () => {
  vi.useRealTimers();
  await store.close();
});

/**
 * Opens a gateway on the shared database, with a web channel whose stream ends when its reader
 * disconnects.
 */
async function gateway() {
  const { log, lines } = createRecordingLogger();
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
    ...{ host: '127.0.0.1', token: () => token, store },
    page: { fetch: () => new Response('the page') },
    sessions: {
      repository: store.pageSessions,
      signIns: store.signIns,
      limits: { idleMs: 12 * HOUR, longestMs: 30 * DAY },
    },
    clock: () => now,
    monotonic: () => now,
    log,
    metrics: async () => '',
    status: () => [],
    report: createTestStatus({ agent: 'Parley' }),
    operations: {
      store,
      clock: () => now,
      log,
      scrub: (text) => text,
    } as Partial<OperationServices> as OperationServices,
    ping: async () => undefined,
    channel: () => ({ fetch: async () => new Response(stream(), { headers }) }),
  });
  const server = await startHttp(
    { host: '127.0.0.1', port: 0, log, secrets: openSecrets() },
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
  const status = async (secret: string) => (await ask('/api/status/report', secret)).status;
  const list = async (secret: string) =>
    Listed.parse(await (await ask('/api/sessions/list', secret)).json()).sessions;
  return { ask, signIn, session, status, list, lines, cancelled: () => cancelled };
}

describe('a page session', () => {
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
        person: null,
        ...{ createdAt: now, usedAt: now, expiresAt },
      },
    ]);
  });

  it('[U03] lasts for twelve hours after its last use, and for at most thirty days', async () => {
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

  it('[U03] costs one read per request, and at most one write per minute', async () => {
    const { session, status, list } = await gateway();
    const secret = await session();
    now += 59_000;
    await status(secret);
    expect((await list(secret))[0]?.usedAt).toBe(now - 59_000);
    now += 1_000;
    await status(secret);
    expect((await list(secret))[0]?.usedAt).toBe(now);
  });

  it('[U03] [D09] of one gateway works on all other gateways, and can be ended there', async () => {
    const [one, two] = [await gateway(), await gateway()];
    const secret = await one.session();
    expect(await two.status(secret)).toBe(200);
    expect(
      (await two.ask('/api/sessions/leave', secret, { method: 'POST', body: '{}' })).status,
    ).toBe(200);
    expect([await one.status(secret), await two.status(secret)]).toEqual([401, 401]);
  });

  it("[U03] ends immediately together with its streams, but other sessions' streams stay open", async () => {
    const { ask, session, list, cancelled } = await gateway();
    const [mine, lost] = [await session(), await session()];
    const streams = [
      await ask('/channels/web/default/events', mine),
      await ask('/channels/web/default/events', lost),
    ];
    const [kept, ended] = streams.map(({ body }) => body?.getReader());
    for (const reader of [kept, ended]) expect((await reader?.read())?.done).toBe(false);
    const [other] = (await list(mine)).filter(({ isCurrent }) => !isCurrent);
    const endOther = () =>
      ask('/api/sessions/end', mine, { method: 'POST', body: JSON.stringify({ id: other?.id }) });
    expect((await endOther()).status).toBe(200);
    expect((await ended?.read())?.done).toBe(true);
    await expect.poll(cancelled).toBe(1);
    expect((await endOther()).status).toBe(400);
    await kept?.cancel();
    await expect.poll(cancelled).toBe(2);
  });

  it('[U03] ends its streams within seconds when another process ends the session', async () => {
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

  it('[U03] cannot open another session, because this requires the token', async () => {
    const { session, signIn } = await gateway();
    expect((await signIn(await session())).status).toBe(401);
  });

  it.each(['', '{}', '{"token":1}', '{"token":" "}'])('[U03] is not opened by %j', async (body) => {
    const { ask } = await gateway();
    expect((await ask('/api/sessions', undefined, { method: 'POST', body })).status).toBe(400);
  });

  it('[U03] is opened by a token pasted with spaces around it, but never from another site', async () => {
    const { signIn } = await gateway();
    expect((await signIn(` ${token}\n`)).status).toBe(201);
    expect((await signIn(token, { origin: 'https://evil.example' })).status).toBe(403);
  });

  it('[U03] keeps working while wrong tokens are throttled, and so does the correct token', async () => {
    const { signIn, session, status, ask, lines } = await gateway();
    const secret = await session();
    for (let nth = 0; nth < 6; nth += 1) expect((await signIn('wrong')).status).toBe(401);
    const slow = await signIn('wrong');
    expect([slow.status, slow.headers.get('retry-after')]).toEqual([429, '1']);
    expect((await signIn(token)).status).toBe(201);
    expect(await status(secret)).toBe(200);
    expect((await ask('/api/sessions/list', secret)).status).toBe(200);
    expect((await ask('/api/status/report', token)).status).toBe(200);
    const logged = JSON.stringify(lines);
    expect(logged).toContain('a wrong token was sent');
    for (const hidden of [secret, token]) expect(logged).not.toContain(hidden);
  });

  it('[U03] does not delay the next sign-in if it expires during many requests', async () => {
    const { signIn, session, status, ask } = await gateway();
    const secret = await session();
    await ask('/api/sessions/end', token, { method: 'POST', body: '{"id":"all"}' });
    for (let nth = 0; nth < 20; nth += 1) expect(await status(secret)).toBe(401);
    const mistyped = await signIn('wrong');
    expect([mistyped.status, await mistyped.text()]).toEqual([
      401,
      expect.stringContaining('not the token of this gateway'),
    ]);
  });

  it('[U03] records the address from which it was opened, ignoring proxy headers', async () => {
    const { signIn } = await gateway();
    await signIn(token, { 'x-forwarded-for': '127.0.0.1' });
    expect((await store.pageSessions.list(now)).map(({ network }) => network)).toEqual(['proxy']);
  });
});

const Added = z.object({ name: z.string(), role: z.string(), token: z.string() });

describe('a named sign-in', () => {
  /** Adds a person as an owner would, and signs them in with a browser. */
  async function person({ ask, signIn }: Awaited<ReturnType<typeof gateway>>, role = 'owner') {
    const body = JSON.stringify({ name: 'bob', role });
    const added = await ask('/api/people/add', token, { method: 'POST', body });
    const { token: own } = Added.parse(await added.json());
    return { own, session: Opened.parse(await (await signIn(own)).json()).session };
  }
  const revoke = ({ ask }: Awaited<ReturnType<typeof gateway>>, name = 'bob') =>
    ask('/api/people/revoke', token, { method: 'POST', body: JSON.stringify({ name }) });

  it('[U03] has its own token, which is shown once and stored as a hash', async () => {
    const one = await gateway();
    const { own, session } = await person(one);
    expect(own).toMatch(/^parley_signin_[\w-]{43}$/);
    expect([await one.status(own), await one.status(session)]).toEqual([200, 200]);
    const listed = await (await one.ask('/api/people/list', session)).text();
    expect(JSON.parse(listed)).toEqual({
      people: [{ name: 'bob', role: 'owner', createdAt: now, usedAt: now }],
    });
    const stored = JSON.stringify(await store.signIns.list());
    for (const text of [listed, stored, JSON.stringify(one.lines)]) {
      expect(text).not.toContain(own.slice(-20));
    }
    expect(await one.list(token)).toMatchObject([{ person: 'bob' }]);
  });

  it('[U03] does not grant access once it is revoked, and its streams end immediately', async () => {
    const one = await gateway();
    const { own, session } = await person(one);
    const path = '/channels/web/default/events';
    const ended = [await one.ask(path, session), await one.ask(path, own)];
    const kept = (await one.ask(path, token)).body?.getReader();
    const readers = ended.map(({ body }) => body?.getReader());
    for (const reader of [...readers, kept]) expect((await reader?.read())?.done).toBe(false);
    expect(await (await revoke(one)).json()).toEqual({ ended: 1 });
    for (const reader of readers) expect((await reader?.read())?.done).toBe(true);
    for (const secret of [own, session]) expect(await one.status(secret)).toBe(401);
    expect((await one.signIn(own)).status).toBe(401);
    expect((await revoke(one)).status).toBe(400);
    expect(await one.list(token)).toEqual([]);
    await kept?.cancel();
    await expect.poll(one.cancelled).toBe(3);
  });

  it('[U03] [D09] ends its streams within seconds when another process revokes it', async () => {
    const [one, two] = [await gateway(), await gateway()];
    const { own, session } = await person(one);
    const readers = [session, own].map(async (secret) =>
      (await two.ask('/channels/web/default/events', secret)).body?.getReader(),
    );
    for (const reader of await Promise.all(readers)) await reader?.read();
    expect((await revoke(one)).status).toBe(200);
    expect([await two.status(own), await two.status(session)]).toEqual([401, 401]);
    await vi.advanceTimersByTimeAsync(2_000);
    for (const reader of await Promise.all(readers)) {
      expect((await reader?.read())?.done).toBe(true);
    }
  });

  it('[U03] keeps working when the token in the data folder is replaced', async () => {
    const one = await gateway();
    const { own, session } = await person(one);
    token = 'the-second-token-of-this-gateway-12';
    expect([await one.status(own), await one.status(session)]).toEqual([200, 200]);
  });

  it("[U03] is never delayed by other people's wrong tokens", async () => {
    const one = await gateway();
    const { own } = await person(one, 'viewer');
    for (let nth = 0; nth < 6; nth += 1) await one.signIn('wrong');
    expect((await one.ask('/api/status/report', 'wrong')).status).toBe(429);
    expect(await one.status(own)).toBe(200);
    expect((await one.signIn(own)).status).toBe(201);
  });

  it('[U03] records when it was last used, at most once a minute', async () => {
    const one = await gateway();
    const { own } = await person(one);
    const usedAt = async () => (await store.signIns.list())[0]?.usedAt;
    const first = now;
    now += 59_000;
    await one.status(own);
    expect(await usedAt()).toBe(first);
    now += 1_000;
    await one.status(own);
    expect(await usedAt()).toBe(now);
  });

  it.each([
    [{ name: 'Owner', role: 'viewer' }, 400],
    [{ name: '', role: 'viewer' }, 400],
    [{ name: '-x', role: 'viewer' }, 400],
    [{ name: 'a\nb', role: 'viewer' }, 400],
    [{ name: 'a'.repeat(41), role: 'viewer' }, 400],
    [{ name: 'ann', role: 'king' }, 400],
    [{ name: 'ann' }, 400],
    [{ name: 'BOB', role: 'viewer' }, 400],
    [{ name: ' Zoë d’Or'.replace('’', ''), role: 'viewer' }, 200],
    [{ name: '李 四', role: 'viewer' }, 200],
  ])('[U03] answers a request as %j with %i', async (body, status) => {
    const one = await gateway();
    await person(one);
    const init = { method: 'POST', body: JSON.stringify(body) };
    expect((await one.ask('/api/people/add', token, init)).status).toBe(status);
  });
});
