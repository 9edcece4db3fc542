import type { ChannelState } from '@parley/channels';
import { describe, expect, it } from 'vitest';
import { healthOf, wordsOf } from './health-routes.ts';

const WEB = {
  channel: 'web',
  account: 'default',
  state: { kind: 'connected', as: 'page' },
} as const;

function account(channel: string, kind: ChannelState['kind']) {
  const states = {
    starting: { kind: 'starting' },
    stopped: { kind: 'stopped' },
    pairing: { kind: 'pairing', code: 'secret' },
    connected: { kind: 'connected', as: '@bot' },
    standby: { kind: 'standby', holder: 'gateway on b (7)' },
    retrying: { kind: 'retrying', reason: 'secret', nextAttemptAt: 0 },
    failed: { kind: 'failed', reason: 'secret', mend: 'secret' },
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
    const accounts = kinds.map((kind, nth) => account(`a${nth}`, kind));
    expect(wordsOf(healthOf(failures, [WEB, ...accounts]))).toBe(words);
  });
});
