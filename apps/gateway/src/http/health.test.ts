import type { ChannelState } from '@parley/channels';
import { createRecordingLogger } from '@parley/core/testing';
import { describe, expect, it } from 'vitest';
import { createHealthApp, decideHealth, formatHealth } from './health.ts';

const WEB = {
  channel: 'web',
  account: 'default',
  state: { kind: 'connected', as: 'page' },
} as const;

function accountIn(channel: string, kind: ChannelState['kind']) {
  const states = {
    starting: { kind: 'starting' },
    stopped: { kind: 'stopped' },
    pairing: { kind: 'pairing', code: 'secret', how: 'scan' },
    connected: { kind: 'connected', as: '@bot' },
    standby: { kind: 'standby', holder: 'gateway on b (7)' },
    retrying: { kind: 'retrying', reason: 'secret', nextAttemptAt: 0 },
    failed: { kind: 'failed', reason: 'secret', fix: 'secret' },
  } as const;
  return { channel, account: 'default', state: states[kind] };
}

describe('the health of a process', () => {
  it.each<[string, readonly string[], readonly ChannelState['kind'][]]>([
    ['ready', [], []],
    ['ready', [], ['connected', 'standby']],
    ['degraded: a0/default: failed', [], ['failed', 'connected']],
    ['degraded: a1/default: retrying', [], ['standby', 'retrying']],
    ['down: a0/default: failed; a1/default: pairing', [], ['failed', 'pairing']],
    ['down: a0/default: failed', [], ['failed']],
    ['down: channels are connecting', [], ['starting', 'connected']],
    ['down: shutting down', [], ['stopped']],
    ['down: the database is damaged', ['the database is damaged'], ['connected', 'failed']],
    ['down: no database; no queue', ['no database', 'no queue'], ['starting']],
  ])('[D10] is "%s"', (words, failures, kinds) => {
    const accounts = kinds.map((kind, nth) => accountIn(`a${nth}`, kind));
    expect(formatHealth(decideHealth(failures, [WEB, ...accounts]))).toBe(words);
  });
});

describe('the health of a process whose work waits too long', () => {
  const account = (nth: number) => `a${nth}/default`;
  it.each<[string, Parameters<typeof decideHealth>[2], readonly ChannelState['kind'][]]>([
    [
      'down: a message has been waiting for a turn for 31 s',
      { messages: { ageMs: 31_000, noTurns: true }, accounts: new Map() },
      ['connected'],
    ],
    [
      'degraded: a message has been waiting for a turn for 31 s',
      { messages: { ageMs: 31_000, noTurns: false }, accounts: new Map() },
      ['connected'],
    ],
    [
      'down: a0/default: an answer has been waiting to be sent for 40 s',
      { messages: null, accounts: new Map([[account(0), 40_000]]) },
      ['connected'],
    ],
    [
      'degraded: a1/default: an answer has been waiting to be sent for 40 s',
      { messages: null, accounts: new Map([[account(1), 40_000]]) },
      ['connected', 'connected'],
    ],
    [
      'ready',
      { messages: null, accounts: new Map([[account(0), 40_000]]) },
      ['standby', 'connected'],
    ],
  ])('[D10] [D13] is "%s"', (words, stalled, kinds) => {
    const accounts = kinds.map((kind, nth) => accountIn(`a${nth}`, kind));
    expect(formatHealth(decideHealth([], [WEB, ...accounts], stalled))).toBe(words);
  });
});

const TOKEN = 'secret-token-of-all-processes-1234';
const HOST = '127.0.0.1:7411';

function get(path: string, headers: Record<string, string> = {}, ping = async () => {}) {
  const { log } = createRecordingLogger();
  const metrics = async () => 'parley_up 1\n';
  const app = createHealthApp({
    host: '127.0.0.1',
    clock: () => 0,
    monotonic: () => 0,
    token: () => TOKEN,
    log,
    metrics,
    ping,
  });
  return app.request(`http://${HOST}${path}`, { headers: { host: HOST, ...headers } });
}

describe('the web server of a worker', () => {
  it('[D10] reports to everyone whether the worker is alive and ready', async () => {
    expect((await get('/healthz')).status).toBe(200);
    expect((await get('/readyz')).status).toBe(200);
    const away = () => Promise.reject(new Error('away'));
    expect((await get('/readyz', {}, away)).status).toBe(503);
    expect((await get('/healthz', {}, away)).status).toBe(200);
  });

  it('[D10] shows its metrics to callers with the token', async () => {
    expect((await get('/metrics')).status).toBe(401);
    const shown = await get('/metrics', { authorization: `Bearer ${TOKEN}` });
    expect(await shown.text()).toBe('parley_up 1\n');
  });

  it.each(['/', '/api/status/report', '/channels/web/default/history'])(
    '[D09] has no %s, which only gateways have',
    async (path) => {
      const answer = await get(path, { authorization: `Bearer ${TOKEN}` });
      expect(answer.status).toBe(404);
      expect(await answer.text()).toContain('A gateway serves');
    },
  );
});
