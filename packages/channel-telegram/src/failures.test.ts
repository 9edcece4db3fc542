import { computeReconnectBackoff } from '@parley/channels';
import { describe, expect, it } from 'vitest';
import type { CallFailure } from './failures.ts';
import { decideAfterConnectionFailure } from './failures.ts';

const refused = (code: number, reason: string): CallFailure => ({ kind: 'refused', code, reason });

describe('after a failed poll', () => {
  it.each([401, 404])('gives up on %i, and says where to fix the token', (code) => {
    expect(decideAfterConnectionFailure(refused(code, 'No'), 0, 0)).toMatchObject({
      kind: 'give-up',
      fix: expect.stringContaining('@BotFather'),
    });
  });

  it('lets the other poller proceed for at least 10 s', () => {
    const failure = refused(409, 'Conflict: terminated by other getUpdates request');
    expect(decideAfterConnectionFailure(failure, 0, 0)).toMatchObject({
      kind: 'retry',
      afterMs: 10_000,
      reason: expect.stringContaining('another program'),
    });
    expect(decideAfterConnectionFailure(failure, 9, 0.999)).toMatchObject({
      kind: 'retry',
      afterMs: 59_970,
    });
  });

  it('removes a webhook once, and does not remove it again if it reappears', () => {
    const failure = refused(409, "Conflict: can't use getUpdates method while webhook is active");
    expect(decideAfterConnectionFailure(failure, 0, 0)).toEqual({ kind: 'drop-webhook' });
    expect(decideAfterConnectionFailure(failure, 1, 0)).toMatchObject({
      kind: 'retry',
      afterMs: 10_000,
    });
  });

  it('waits as long as Telegram asks', () => {
    const failure: CallFailure = {
      ...refused(429, 'Too Many Requests'),
      kind: 'refused',
      code: 429,
      reason: '',
      retryAfterMs: 137_000,
    };
    expect(decideAfterConnectionFailure(failure, 0, 0)).toMatchObject({
      kind: 'retry',
      afterMs: 137_000,
    });
  });

  it.each<[string, CallFailure]>([
    ['a gateway that answers with HTML', { kind: 'unknown', reason: 'HTTP 502' }],
    ['a network that is down', { kind: 'not-sent', reason: 'ENOTFOUND' }],
    ['an unexpected refusal', refused(400, 'Bad Request')],
  ])('continues after %s', (_name, failure) => {
    expect(decideAfterConnectionFailure(failure, 0, 0.5)).toMatchObject({
      kind: 'retry',
      afterMs: 750,
    });
  });

  it('increases the delay after each failure, up to a minute', () => {
    expect(
      [0, 1, 2, 5, 6, 60].map((failures) => computeReconnectBackoff(failures, 0.9999999)),
    ).toEqual([1_000, 2_000, 4_000, 32_000, 60_000, 60_000]);
  });
});
