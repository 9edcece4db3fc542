import { describe, expect, it } from 'vitest';
import { decideAfterConnectionFailure } from './failures.ts';

const NOW = Date.parse('2026-11-21T12:00:00.000Z');

describe('after a failed login or a lost connection', () => {
  it.each([
    ['An invalid token was provided.', undefined, 'Reset Token'],
    ['Authentication failed', undefined, 'Reset Token'],
    ['closed with 4004', 4004, 'Reset Token'],
    ['Used disallowed intents', undefined, 'Message Content Intent'],
    ['closed with 4014', 4014, 'messageContent'],
    ['Sharding is required', undefined, 'shards'],
    ['Invalid shard', undefined, 'shards'],
    ['Used invalid intents', undefined, 'Update'],
    ['Used an invalid API version', undefined, 'Update'],
  ])('gives up and says how to fix the problem: %s', (reason, closeCode, fix) => {
    const decision = decideAfterConnectionFailure({ reason, closeCode }, 0, 0, NOW);
    expect(decision).toMatchObject({ kind: 'give-up', fix: expect.stringContaining(fix) });
  });

  it.each([
    [0, 0, 500],
    [0, 0.999, 1_000],
    [3, 0, 4_000],
    [20, 0.999, 59_970],
  ])('after failure %i, with the random value %d, retries in %i ms', (failures, random, ms) => {
    const decision = decideAfterConnectionFailure(
      { reason: 'ECONNREFUSED' },
      failures,
      random,
      NOW,
    );
    expect(decision).toMatchObject({ kind: 'retry', afterMs: ms });
  });

  it('waits as long as Discord asks', () => {
    expect(
      decideAfterConnectionFailure({ reason: 'r', retryAfterMs: 77_000 }, 0, 0, NOW),
    ).toMatchObject({
      afterMs: 77_000,
    });
    const spent =
      'Not enough sessions remaining to spawn 1 shards; only 0 remaining; resets at 2026-11-21T13:00:00.000Z';
    expect(decideAfterConnectionFailure({ reason: spent }, 0, 0, NOW)).toMatchObject({
      afterMs: 3_600_000,
    });
  });
});
