import { createHmac } from 'node:crypto';
import { createRecordingLogger } from '@parley/core/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { createSecretVerifier } from './door.ts';
import { createHookRoutes, type HookReceiver } from './hook-routes.ts';

const TOKEN = 'f3'.repeat(20);
const RULES = { token: TOKEN, signature: false, perMinute: 3, maxBytes: 1_000 };

type Taken = Parameters<HookReceiver['take']>;

let now: number;
let taken: Taken[];
let counted: string[];
let answer: Awaited<ReturnType<HookReceiver['take']>>;
let log: ReturnType<typeof createRecordingLogger>;
let page: HookReceiver;
let app: ReturnType<typeof createHookRoutes>;
beforeEach(() => {
  now = 1_000_000;
  taken = [];
  counted = [];
  answer = { kind: 'taken', id: 'hook_ci_1', isNew: true };
  log = createRecordingLogger();
  page = {
    rules: { ci: RULES, signed: { ...RULES, signature: true } },
    async take(...event) {
      taken.push(event);
      return answer;
    },
    count: (outcome, hook = '-') => void counted.push(`${hook} ${outcome}`),
  };
  const monotonic = () => now;
  app = createHookRoutes(page, {
    monotonic,
    door: createSecretVerifier({ monotonic, log: log.log }),
  });
});

const BEARER = { authorization: `Bearer ${TOKEN}` };

const post = (name: string, headers: Record<string, string> = BEARER, body = '{"a":1}') =>
  app.request(`/${name}`, { method: 'POST', headers, body });

const signatureOf = (body: string, token = TOKEN) =>
  `sha256=${createHmac('sha256', token).update(body).digest('hex')}`;

describe('POST /hooks/NAME', () => {
  it('[H09] accepts an event with its type and key, and responds once the event is durable', async () => {
    const type = 'application/json';
    const headers = { ...BEARER, 'content-type': type, 'idempotency-key': 'k1' };
    const response = await post('ci', headers);
    expect([response.status, await response.json()]).toEqual([202, { id: 'hook_ci_1' }]);
    await post(
      'ci',
      { ...BEARER, 'content-type': 'text/plain', 'x-github-delivery': 'd1' },
      'hello',
    );
    expect(taken).toEqual([
      ['ci', { contentType: type, body: '{"a":1}', key: 'k1' }],
      ['ci', { contentType: 'text/plain', body: 'hello', key: 'd1' }],
    ]);
    answer = { kind: 'taken', id: 'hook_ci_1', isNew: false };
    expect((await post('ci', headers)).status).toBe(202);
    expect(counted).toEqual(['ci taken', 'ci taken', 'ci repeated']);
  });

  it('[W10] decodes a body with the charset from its content type, and verifies its signature over the raw bytes', async () => {
    const body = Uint8Array.from(Buffer.from('cff0e8e2e5f2', 'hex'));
    const sign = `sha256=${createHmac('sha256', TOKEN).update(body).digest('hex')}`;
    const type = 'text/plain; charset=windows-1251';
    const headers = { 'x-hub-signature-256': sign, 'content-type': type };
    const response = await app.request('/signed', { method: 'POST', headers, body });
    expect(response.status).toBe(202);
    expect(taken.at(-1)?.[1]).toMatchObject({ body: 'Привет', contentType: type });
  });

  it('[H09] [U03] responds to an unknown name and a wrong token in the same way, and does not log either of them', async () => {
    const seen = [];
    for (const [name, headers] of [
      ['ci', { authorization: 'Bearer wrong-canary' }],
      ['other', BEARER],
      ['constructor', { authorization: 'Bearer ' }],
      ['ci', {}],
      ['other', { 'x-hub-signature-256': signatureOf('{"a":1}', '') }],
    ] as const) {
      const response = await post(name, headers);
      const { status } = response;
      seen.push([status, response.headers.get('www-authenticate'), await response.text()].join());
    }
    expect(new Set(seen).size).toBe(1);
    expect(seen[0]).toMatch(/^401,Bearer,/);
    expect(taken).toEqual([]);
    expect(log.lines.join()).not.toMatch(/canary|f3f3/);
    expect(counted).toEqual(Array(5).fill('- unauthorized'));
  });

  it('[H09] throttles wrong tokens, but never the correct one', async () => {
    const statuses = [];
    for (let nth = 0; nth < 8; nth += 1) {
      statuses.push((await post('ci', { authorization: 'Bearer no' })).status);
    }
    expect(statuses.slice(-2)).toEqual([429, 429]);
    expect((await post('ci')).status).toBe(202);
  });

  it("[H09] accepts a GitHub signature if the hook permits signatures, and only if it was made with the hook's token", async () => {
    const body = '{"action":"completed"}';
    const signed = (text: string, token?: string) => ({
      'x-hub-signature-256': signatureOf(text, token),
    });
    expect((await post('signed', signed(body), body)).status).toBe(202);
    expect((await post('signed', signed(body), `${body} `)).status).toBe(401);
    expect((await post('signed', signed(body, 'another'), body)).status).toBe(401);
    expect((await post('signed', { 'x-hub-signature-256': 'sha256=' }, body)).status).toBe(401);
    expect((await post('ci', signed(body), body)).status).toBe(401);
    expect((await post('signed', BEARER, body)).status).toBe(202);
    expect(taken.map(([, event]) => event.body)).toEqual([body, body]);
  });

  it('[H09] recognizes a repeated signed body, even if its headers differ', async () => {
    const send = (body: string, headers: Record<string, string> = {}) => {
      now += 30_000;
      return post('signed', { 'x-hub-signature-256': signatureOf(body), ...headers }, body);
    };
    await send('{"run":1}', { 'x-github-delivery': 'd1' });
    await send('{"run":1}');
    await send('{"run":1}', { 'x-github-delivery': 'd2', 'content-type': 'text/plain' });
    await send('{"run":1}', { 'idempotency-key': 'k'.repeat(300) });
    await send('{"run":2}', { 'x-github-delivery': 'd1' });
    const keys = taken.map(([, { key }]) => key);
    expect(keys).toHaveLength(5);
    expect(new Set(keys.slice(0, 4)).size).toBe(1);
    expect(keys[4]).not.toBe(keys[0]);
    // A key chosen by a sender is always different from a key derived from a signature.
    expect(keys[0]).toContain('\n');
    expect(() => new Headers({ 'idempotency-key': keys[0] ?? '' })).toThrow();
  });

  it('[H09] [D07] refuses a body that is too large without reading all of it', async () => {
    let pulled = 0;
    const long = new ReadableStream({
      pull(controller) {
        pulled += 1;
        if (pulled > 100) controller.close();
        else controller.enqueue(new Uint8Array(500));
      },
    });
    const init = { method: 'POST', headers: BEARER, body: long, duplex: 'half' as const };
    expect((await app.request('/ci', init)).status).toBe(413);
    expect(pulled).toBeLessThan(10);
    expect((await post('ci', BEARER, 'ü'.repeat(501))).status).toBe(413);
    expect((await post('ci', BEARER, 'ü'.repeat(500))).status).toBe(202);
  });

  it('[H09] [D07] refuses more events per minute than permitted, and says when to try again', async () => {
    const statuses = [];
    for (let nth = 0; nth < 3; nth += 1) statuses.push((await post('ci')).status);
    now += 20_000;
    const refused = await post('ci');
    expect([...statuses, refused.status]).toEqual([202, 202, 202, 429]);
    expect(refused.headers.get('retry-after')).toBe('40');
    expect((await post('signed')).status).toBe(202);
    now += 40_000;
    expect((await post('ci')).status).toBe(202);
    expect(counted.filter((one) => one === 'ci too-many')).toHaveLength(1);
  });

  it('[H09] states why an event cannot be accepted at the moment, or that its key is too long', async () => {
    answer = { kind: 'nowhere', reason: 'no owner has written in a direct chat yet' };
    const response = await post('ci');
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '30']);
    expect(await response.text()).toContain('no owner has written');
    expect((await post('ci', { ...BEARER, 'idempotency-key': 'k'.repeat(256) })).status).toBe(400);
  });
});
