import { type Logger, ParleyError } from '@parley/core';
import { openMemoryStore } from '@parley/store/testing';
import { afterAll, describe, expect, it } from 'vitest';
import type { OperationServices } from '../operations.ts';
import { createHttpApp, type HttpAppOptions } from './app.ts';
import { createTestStatus } from './testing/full-app.ts';

const TOKEN = 'secret-token-of-this-gateway-1234';
const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silent,
};
const HOST = '127.0.0.1:7411';
const clock = () => 1_000;
const store = await openMemoryStore({ clock });
afterAll(() => store.close());

/** Test operations that only respond to requests for the heartbeats of two agents. */
const OPERATIONS = {
  agents: async () => AGENTS,
  scrub: (text: string) => text.replaceAll('hunter2', '[secret]'),
  heartbeat: async (agent = 'main') => {
    if (agent === 'x')
      throw new ParleyError({ code: 'no-agent', message: 'No x', retryable: false });
    return {
      isRunning: true,
      report: async () => ({ of: agent, password: 'hunter2' }),
      request: async (id: string, task?: string) => ({ id, task, text: '' }),
    };
  },
} as unknown as OperationServices;

function app(given: Partial<HttpAppOptions> = {}) {
  return createHttpApp({
    host: '127.0.0.1',
    token: () => TOKEN,
    page: { fetch: () => new Response('the page') },
    sessions: {
      repository: store.pageSessions,
      signIns: store.signIns,
      limits: { idleMs: 60_000, longestMs: 600_000 },
    },
    ...{ clock, store },
    monotonic: clock,
    log: silent,
    metrics: async () => 'parley_up 1\n',
    status: () => [],
    report: createTestStatus({ agent: 'Parley' }),
    operations: OPERATIONS,
    ping: async () => undefined,
    channel: () => undefined,
    ...given,
  });
}

const SHOWN = { emoji: null, model: 'offline', profile: null, routes: [] };
const AGENTS = [
  { ...SHOWN, name: 'main', title: 'Ada', isDefault: true },
  { ...SHOWN, name: 'support', title: 'Help desk', isDefault: false },
];

describe('several agents in a gateway', () => {
  it.each<readonly [string, number, unknown]>([
    ['/api/heartbeat/report', 200, expect.objectContaining({ of: 'main' })],
    ['/api/heartbeat/report?agent=main', 200, expect.objectContaining({ of: 'main' })],
    ['/api/heartbeat/report?agent=support', 200, expect.objectContaining({ of: 'support' })],
    ['/api/heartbeat/report?agent=x', 404, { error: 'No x', code: 'no-agent' }],
    ['/api/agents/list', 200, { agents: AGENTS }],
  ])('[F14] are addressed individually: %s', async (path, status, answer) => {
    const response = await get(path, { authorization: `Bearer ${TOKEN}` });
    expect([response.status, await response.json()]).toEqual([status, answer]);
  });
});

function accountThat(kind: 'starting' | 'stopped' | 'failed') {
  const state =
    kind === 'failed' ? { kind, reason: 'no token', fix: 'set one' } : ({ kind } as const);
  return () => [{ channel: 'telegram', account: 'default', state }];
}

const get = (path: string, headers: Record<string, string> = {}, options = {}) =>
  app(options).request(`http://${HOST}${path}`, { headers: { host: HOST, ...headers } });

describe('access to the routes', () => {
  it.each([
    ['/', 200],
    ['/page/style/base.css', 200],
    ['/page/main-ABCDEFGH.js', 200],
    ['/page/../../package.json', 404],
    ['/metrics', 401],
    ['/api/status/report', 401],
    ['/api/sessions/list', 401],
    ['/api/heartbeat/report', 401],
    ['/api/prompts/list?limit=5', 401],
    ['/channels/web/default/history', 401],
  ])(
    '[U03] does not require the token for %s, which answers %i, because the page itself does not contain secrets',
    async (path, status) => {
      expect((await get(path)).status).toBe(status);
    },
  );

  it.each<[string, Record<string, string>, number]>([
    ['the token', { authorization: `Bearer ${TOKEN}` }, 200],
    ['a wrong token', { authorization: 'Bearer x' }, 401],
    ['half a token', { authorization: `Bearer ${TOKEN.slice(1)}` }, 401],
    ['an empty token', { authorization: 'Bearer ' }, 401],
    ['another scheme', { authorization: `Basic ${TOKEN}` }, 401],
    ['a cookie', { cookie: `parley-7411=${TOKEN}` }, 401],
    ['an unknown session', { authorization: `Bearer parley_session_${'a'.repeat(43)}` }, 401],
    [
      'the token by another site',
      { authorization: `Bearer ${TOKEN}`, origin: 'https://evil.example' },
      403,
    ],
  ])('[U03] makes %s with %o answer %i', async (_case, headers, status) => {
    expect((await get('/api/status/report', headers)).status).toBe(status);
    expect(
      (await get(`/api/status/report?token=${TOKEN}`, { ...headers, authorization: '' })).status,
    ).not.toBe(200);
  });

  it('[U03] removes the cookie set by earlier versions', async () => {
    const { headers } = await get('/', { cookie: `a=1; parley-7411=${TOKEN}` });
    expect(headers.get('set-cookie')).toBe('parley-7411=; Max-Age=0; Path=/');
    expect((await get('/', { cookie: 'parley-7412=x' })).headers.get('set-cookie')).toBeNull();
  });

  it('explains a refusal in one line', async () => {
    const response = await get('/api/status/report', { accept: 'text/html' });
    expect(response.headers.get('content-type')).toContain('text/plain');
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(await response.text()).toContain('parley token show');
  });
});

describe('every response', () => {
  it.each(['/', '/healthz', '/page/icon.svg', '/api/status/report', '/?token=wrong'])(
    '[U03] forbids other hosts, frames, inline code and content sniffing: %s',
    async (path) => {
      const { headers } = await get(path);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
    },
  );
});

describe('the routes of the gateway', () => {
  const signedIn = { authorization: `Bearer ${TOKEN}` };

  it("[D10] shows metrics in Prometheus's format", async () => {
    const response = await get('/metrics', signedIn);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await response.text()).toBe('parley_up 1\n');
  });

  it.each<[string, number, Partial<HttpAppOptions>]>([
    ['is ready', 200, {}],
    ['is not ready while a channel connects', 503, { status: accountThat('starting') }],
    ['is not ready while it shuts down', 503, { status: accountThat('stopped') }],
    ['is not ready when its only platform is broken', 503, { status: accountThat('failed') }],
    ['is not ready while no worker is alive', 503, { workers: async () => 0 }],
    ['is ready with a worker elsewhere', 200, { workers: async () => 1 }],
    [
      'is not ready without its database',
      503,
      {
        ping: async () => {
          throw new Error('gone');
        },
      },
    ],
    [
      'is not ready without its queue',
      503,
      {
        pingQueue: async () => {
          throw new Error('gone');
        },
      },
    ],
    ['is not ready when its database is silent', 503, { ping: () => new Promise(() => undefined) }],
  ])('[D10] %s', async (_case, status, options) => {
    expect((await get('/readyz', {}, options)).status).toBe(status);
    expect((await get('/healthz', {}, options)).status).toBe(200);
  });

  it('answer HEAD like GET, without a body', async () => {
    const request = { method: 'HEAD', headers: { host: HOST, ...signedIn } };
    const response = await app().request(`http://${HOST}/`, request);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });

  it('list the valid paths when a path is unknown', async () => {
    const response = await get('/channels/nowhere/default/history', signedIn);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('nowhere/default');
    expect((await get('/nothing', signedIn)).status).toBe(404);
  });

  it('[U03] let platforms call channels that authenticate the calls themselves, under any host name and without the token', async () => {
    const fetch = async (request: Request) => new Response(request.url, { status: 202 });
    const called = { channel: () => ({ open: true, fetch }) as const };
    const host = { host: 'bots.example.org' };
    expect((await get('/channels/telegram/default', host, called)).status).toBe(202);
    expect((await get('/channels/telegram/default/hook', host, called)).status).toBe(202);
    const guarded = { channel: () => ({ fetch }) };
    expect((await get('/channels/telegram/default/hook', host, guarded)).status).toBe(403);
    expect((await get('/channels/telegram/default/hook', {}, guarded)).status).toBe(401);
  });

  it('hide internal errors from responses', async () => {
    const report = async () => {
      throw new Error('password=hunter2');
    };
    const response = await get('/api/status/report', signedIn, { report });
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('hunter2');
  });
});

describe('operations', () => {
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    app().request(`http://${HOST}/api/${path}`, {
      method: 'POST',
      body,
      headers: { host: HOST, authorization: `Bearer ${TOKEN}`, ...headers },
    });
  const now = (body: string, headers?: Record<string, string>) =>
    post('heartbeat/now', body, headers);

  it('[H02] [U03] are available to callers with the token, but not to other sites', async () => {
    expect((await get('/api/heartbeat/report')).status).toBe(401);
    const run = await now('{"id":"a","task":"mail"}');
    expect(await run.json()).toEqual({ id: 'a', task: 'mail', text: '' });
    expect((await now('{"id":"a"}', { authorization: 'Bearer x' })).status).toBe(401);
    expect((await now('{"id":"a"}', { origin: 'https://evil.example' })).status).toBe(403);
  });

  it.each(['GET', 'POST'])(
    '[G18] answer a read request by %s without secrets and without caching',
    async (method) => {
      const headers = { authorization: `Bearer ${TOKEN}` };
      const shown =
        method === 'GET'
          ? await get('/api/heartbeat/report', headers)
          : await post('heartbeat/report', '{}');
      expect(await shown.json()).toEqual({ running: true, of: 'main', password: '[secret]' });
      expect(shown.headers.get('cache-control')).toBe('no-store');
    },
  );

  it.each(['', '{}', '[]', '{"id":1}', '{"id":""}', '{"id":"a","task":{}}', '{"id":"a","else":1}'])(
    '[H02] refuse invalid input: %j',
    async (body) => {
      const response = await now(body);
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { code: 'wrong-input' },
      ]);
    },
  );

  it.each([
    ['heartbeat/nothing', 404],
    ['heartbeat/constructor', 404],
    ['heartbeat/now?id=a', 405],
  ])('[U03] do not support other methods: GET /api/%s answers %i', async (path, status) => {
    const response = await get(`/api/${path}`, { authorization: `Bearer ${TOKEN}` });
    expect(response.status).toBe(status);
  });
});
