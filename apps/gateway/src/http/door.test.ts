import { createHmac } from 'node:crypto';
import type { ChannelContext } from '@parley/channels';
import { api } from '@parley/channels/api';
import { silentLogger } from '@parley/core';
import { createInMemoryAdapterValues } from '@parley/core/testing';
import { openMemoryStore } from '@parley/store/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createHttpApp } from './app.ts';
import { createWrongTokenCounter } from './door.ts';
import { fingerprintSecret, SIGN_IN_PREFIX, toSessionId } from './page-sessions.ts';
import { createTestStatus, NO_OPERATIONS } from './testing/full-app.ts';

const from = (name: string) => ({ name, isLocal: false });
const MINUTE = 60_000;

function scene() {
  let now = 1_000_000;
  const wrong = createWrongTokenCounter(() => now);
  const guess = (name: string, times = 1): void => {
    for (let nth = 0; nth < times; nth += 1) wrong.wrong(from(name));
  };
  const pass = (ms: number): void => {
    now += ms;
  };
  return { wrong, guess, pass };
}

describe('wrong tokens', () => {
  it('[U03] cause no delay at first, then a second, then twice as long each time, up to five minutes', () => {
    const { wrong, guess, pass } = scene();
    guess('a', 5);
    const waits = Array.from({ length: 11 }, () => {
      guess('a');
      const ms = wrong.waitMs(from('a'));
      pass(ms);
      expect(wrong.waitMs(from('a'))).toBe(0);
      return ms / 1_000;
    });
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  });

  it('[U03] from one sender delay only that sender, until there are too many in total', () => {
    const { wrong, guess } = scene();
    guess('a', 50);
    expect(wrong.waitMs(from('b'))).toBe(0);
    guess('a', 30);
    expect(wrong.waitMs(from('b'))).toBe(15_000);
    expect(wrong.waitMs({ name: 'here', isLocal: true })).toBe(0);
  });

  it('[U03] are forgotten if no other wrong token follows within a quarter of an hour', () => {
    const { wrong, guess, pass } = scene();
    guess('b', 8);
    expect(wrong.waitMs(from('b'))).toBe(4_000);
    pass(16 * MINUTE);
    guess('b');
    expect(wrong.waitMs(from('b'))).toBe(0);
  });

  it('[U03] use little memory even if they come from many senders, and all of them count toward the total', () => {
    const { wrong, guess } = scene();
    for (let nth = 0; nth < 3_000; nth += 1) guess(`address ${nth}`);
    expect(wrong.size()).toBe(1_000);
    expect(wrong.waitMs(from('the next one'))).toBe(15_000);
  });
});

const HOST = '127.0.0.1:7411';
const TOKEN = 'secret-token-of-this-gateway-1234';
const CLIENT = 'c'.repeat(32);
const HOOK = 'h'.repeat(32);
const PAGE = 'https://app.example.org';
const SIGN_IN = `${SIGN_IN_PREFIX}${'s'.repeat(43)}`;
const clock = () => 1_000_000;
const store = await openMemoryStore({ clock });
afterAll(() => store.close());

const _nothing = async () => ({});
const unused = (): never => {
  throw new Error('not used here');
};

/** Opens an API with one client, which treats every message as a duplicate without an answer. */
async function openApi(origins: readonly string[]) {
  const context = {
    ...{
      account: 'default',
      log: silentLogger,
      clock,
      monotonic: clock,
      commands: [],
      values: createInMemoryAdapterValues(),
    },
    settings: {
      ...{ agent: 'main', waitMs: 1, origins },
      clients: { shop: { token: CLIENT, owner: false, conversations: 'one' } },
    },
    ...{ holdsAccount: () => true, receive: async () => ({ kind: 'duplicate' }) },
    ...{ report: () => {}, answer: async () => null, history: async () => [] },
    ...{
      revise: unused,
      reacted: unused,
      skipped: unused,
      ignored: unused,
      message: unused,
      notifyOwner: unused,
    },
  } as ChannelContext<unknown>;
  const connect = await api.load();
  return connect(context).http;
}

/** Opens a gateway with every kind of secret. */
async function gateway({ origins = [] as readonly string[], withApi = true } = {}) {
  const api = await openApi(origins);
  const hash = fingerprintSecret(SIGN_IN);
  await store.signIns.add({
    ...{ id: toSessionId(hash), hash, name: 'Ann', role: 'viewer', createdAt: 0, usedAt: null },
  });
  const app = createHttpApp({
    ...{ host: '127.0.0.1', token: () => TOKEN, clock, store, monotonic: clock, log: silentLogger },
    page: { fetch: () => new Response('the page') },
    sessions: {
      ...{ repository: store.pageSessions, signIns: store.signIns },
      limits: { idleMs: 60_000, longestMs: 600_000 },
    },
    ...{
      metrics: async () => '',
      report: createTestStatus({}),
      operations: NO_OPERATIONS,
      status: () => [],
    },
    hooks: {
      rules: { ci: { token: HOOK, signature: true, perMinute: 10_000, maxBytes: 65_536 } },
      take: async () => ({ kind: 'taken', id: '1', isNew: true }),
      count: () => {},
    },
    ping: async () => undefined,
    channel: (channel) => (channel === 'api' && withApi ? api : undefined),
  });
  const ask = (
    call: string,
    headers: Record<string, string> = {},
    body?: string,
    address = '203.0.113.9',
  ) => {
    const [method = '', path = ''] = call.split(' ');
    const init = {
      method,
      headers: { host: HOST, ...headers },
      ...(body !== undefined && { body }),
    };
    const incoming = { socket: { remoteAddress: address } };
    return app.request(`http://${HOST}${path}`, init, { incoming });
  };
  const opened = await ask('POST /api/sessions', {}, JSON.stringify({ token: TOKEN }));
  const { session } = z.object({ session: z.string() }).parse(await opened.json());
  return { ask, session };
}

type Gateway = Awaited<ReturnType<typeof gateway>>;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** For each kind of secret, a request with the correct secret and one with a wrong secret. */
const SECRETS: Readonly<
  Record<string, (gate: Gateway, right: boolean, more: Record<string, string>) => Promise<Response>>
> = {
  'the token': async ({ ask }, right, more) =>
    ask('GET /api/status/report', { ...bearer(right ? TOKEN : 'wrong'), ...more }),
  'the token, for metrics': async ({ ask }, right, more) =>
    ask('GET /metrics', { ...bearer(right ? TOKEN : 'wrong'), ...more }),
  'the token, at the sign-in of the page': async ({ ask }, right, more) =>
    ask('POST /api/sessions', more, JSON.stringify({ token: right ? TOKEN : 'wrong' })),
  'a session': async ({ ask, session }, right, more) =>
    ask('GET /api/status/report', {
      ...bearer(right ? session : `parley_session_${'x'.repeat(43)}`),
      ...more,
    }),
  'a named sign-in': async ({ ask }, right, more) =>
    ask('GET /api/status/report', {
      ...bearer(right ? SIGN_IN : `${SIGN_IN_PREFIX}${'x'.repeat(43)}`),
      ...more,
    }),
  'a client of the API': async ({ ask }, right, more) =>
    ask('GET /v1/models', { ...bearer(right ? CLIENT : 'wrong'), ...more }),
  'a hook': async ({ ask }, right, more) =>
    ask('POST /hooks/ci', { ...bearer(right ? HOOK : 'wrong'), ...more }, '{}'),
  'a signature of a hook': async ({ ask }, right, more) => {
    const digest = createHmac('sha256', right ? HOOK : 'wrong')
      .update('{}')
      .digest('hex');
    return ask('POST /hooks/ci', { 'x-hub-signature-256': `sha256=${digest}`, ...more }, '{}');
  },
};
const KINDS = Object.keys(SECRETS);

describe('the check of all secrets', () => {
  it.each([
    ['one address', {}],
    ['a proxy, behind which all have one address', { 'x-forwarded-for': '198.51.100.7' }],
  ])(
    '[U03] [D07] accepts the correct secret immediately after 200 wrong ones from %s',
    async (_, more) => {
      const gate = await gateway();
      for (let nth = 0; nth < 25; nth += 1)
        for (const kind of KINDS) await SECRETS[kind]?.(gate, false, more);
      for (const kind of KINDS) {
        const { status } = (await SECRETS[kind]?.(gate, true, more)) ?? { status: 0 };
        expect([kind, Math.floor(status / 100)]).toEqual([kind, 2]);
      }
    },
  );

  // After status 401, a browser whose session has ended asks the user to sign in, so invalid
  // sessions are not counted.
  it.each(KINDS.filter((kind) => kind !== 'a session'))(
    '[U03] throttles wrong secrets from one address: %s',
    async (kind) => {
      const gate = await gateway();
      const statuses = [];
      for (let nth = 0; nth < 8; nth += 1)
        statuses.push((await SECRETS[kind]?.(gate, false, {}))?.status);
      expect(statuses).toEqual([401, 401, 401, 401, 401, 401, 429, 429]);
      const slow = await SECRETS[kind]?.(gate, false, {});
      expect(slow?.headers.get('retry-after')).toBe('1');
    },
  );

  it('[U03] does not count a request without a secret', async () => {
    const gate = await gateway();
    for (const call of ['GET /api/status/report', 'GET /v1/models', 'POST /hooks/ci'])
      for (let nth = 0; nth < 10; nth += 1) expect((await gate.ask(call)).status).toBe(401);
    expect((await SECRETS['the token']?.(gate, false, {}))?.status).toBe(401);
  });
});

describe('a request to a wrong address', () => {
  const API = 'The API is at /v1';
  it.each<[string, number, string]>([
    ['POST /chat/completions', 404, API],
    ['GET /models', 404, API],
    ['GET /models/main', 404, API],
    ['POST /openai/v1/chat/completions', 404, API],
    ['POST /v1/v1/chat/completions', 404, 'POST /v1/chat/completions'],
    ['POST /v1/chat/completions/', 404, 'Use /v1/chat/completions, without the slash'],
    ['GET /v1/models/', 404, 'Use /v1/models, without the slash'],
    ['GET /v1/chat/completions', 405, 'accepts POST, not GET'],
    ['POST /v1/models', 405, 'accepts GET, not POST'],
    ['OPTIONS /v1/models', 405, 'accepts GET'],
    ['POST /v1/completions', 404, 'POST /v1/chat/completions'],
    ['GET /v1', 404, 'POST /v1/chat/completions'],
    ['GET /api/status/report/', 404, 'Use /api/status/report, without the slash'],
    ['DELETE /api/status/report', 405, 'accepts GET, POST, not DELETE'],
    ['GET /api/nothing', 404, 'nothing at /api/nothing'],
    ['GET /metrics/', 404, 'Use /metrics, without the slash'],
    ['GET /hooks/ci', 405, 'accepts POST, not GET'],
    ['POST /hooks/ci/', 404, 'Use /hooks/ci, without the slash'],
    ['GET /nothing', 404, 'The page is at "/"'],
  ])(
    '[U03] to %s is answered with %i and the right address, and does not count as a guess',
    async (call, status, text) => {
      const { ask } = await gateway();
      for (const token of [TOKEN, CLIENT, HOOK, 'wrong']) {
        for (let nth = 0; nth < 3; nth += 1) {
          const response = await ask(call, bearer(token));
          expect(response.status).toBe(status);
          expect(await response.text()).toContain(text);
          expect(response.headers.get('allow')).toBe(
            status === 405 ? /accepts ([A-Z]+(?:, [A-Z]+)*)/.exec(text)?.[1] : null,
          );
        }
      }
      expect((await ask('GET /api/status/report', bearer('wrong'))).status).toBe(401);
    },
  );

  it('[U03] reports that no API is configured', async () => {
    const { ask } = await gateway({ withApi: false });
    const response = await ask('GET /v1/models', bearer(CLIENT));
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('api.clients');
  });
});

describe('web pages of other origins', () => {
  const preflight = (origin: string) => ({
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type,x-stainless-os',
  });

  it('[U03] may call the API if the settings name their exact origin', async () => {
    const { ask } = await gateway({ origins: [PAGE] });
    const asked = await ask('OPTIONS /v1/chat/completions', preflight(PAGE));
    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-origin')).toBe(PAGE);
    expect(asked.headers.get('access-control-allow-headers')).toContain('x-stainless-os');
    expect(asked.headers.get('access-control-allow-credentials')).toBeNull();
    for (const [call, token] of [
      ['GET /v1/models', CLIENT],
      ['GET /v1/models', 'wrong'],
      ['GET /v1/chat/completions', CLIENT],
    ] as const) {
      const { headers } = await ask(call, { origin: PAGE, ...bearer(token) });
      expect(headers.get('access-control-allow-origin')).toBe(PAGE);
      expect(headers.get('vary')).toContain('Origin');
    }
  });

  it.each<[string, readonly string[]]>([
    [PAGE, []],
    ['https://evil.example', [PAGE]],
    ['https://app.example.org.evil.example', [PAGE]],
    ['http://app.example.org', [PAGE]],
    ['https://app.example.org:8443', [PAGE]],
    ['null', [PAGE]],
  ])('[U03] do not get permission otherwise: %s with %j', async (origin, origins) => {
    const { ask } = await gateway({ origins });
    const asked = await ask('OPTIONS /v1/chat/completions', preflight(origin));
    expect(asked.status).toBe(403);
    expect(await asked.text()).toContain('api.origins');
    const called = await ask('GET /v1/models', { origin, ...bearer(CLIENT) });
    for (const { headers } of [asked, called])
      expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  it('[U03] may call only the API routes', async () => {
    const { ask } = await gateway({ origins: [PAGE] });
    const asked = await ask('GET /api/status/report', { origin: PAGE, ...bearer(TOKEN) });
    expect(asked.status).toBe(403);
    expect(asked.headers.get('access-control-allow-origin')).toBeNull();
  });
});
