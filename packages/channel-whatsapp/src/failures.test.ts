import { describe, expect, it } from 'vitest';
import { decideAfterConnectionFailure } from './failures.ts';

const first = { reason: 'lost', failures: 0, brokenSessions: 0 };

describe('after a connection was closed', () => {
  it.each([
    [515, { kind: 'retry', afterMs: 0 }],
    [408, { kind: 'retry', afterMs: 500, reason: 'lost' }],
    [428, { kind: 'retry', afterMs: 500 }],
    [500, { kind: 'retry', afterMs: 500 }],
    [503, { kind: 'retry', afterMs: 500 }],
    [undefined, { kind: 'retry', afterMs: 500 }],
    [401, { kind: 'give-up', forget: true }],
    [403, { kind: 'give-up', forget: false }],
    [405, { kind: 'give-up', forget: false }],
    [411, { kind: 'give-up', forget: false }],
    [440, { kind: 'give-up', forget: false }],
  ])('handles close code %s with %o', (code, decision) => {
    expect(decideAfterConnectionFailure({ ...first, code }, 0)).toMatchObject(decision);
  });

  it('doubles the wait after each failure, up to a minute, minus a random share', () => {
    const waits = (random: number) =>
      [0, 1, 2, 5, 9, 5_000].map((failures) =>
        decideAfterConnectionFailure({ ...first, code: 503, failures }, random),
      );
    expect(waits(0)).toMatchObject([500, 1e3, 2e3, 16e3, 3e4, 3e4].map((afterMs) => ({ afterMs })));
    expect(waits(1)).toMatchObject([1e3, 2e3, 4e3, 32e3, 6e4, 6e4].map((afterMs) => ({ afterMs })));
  });

  it('treats the fifth 500 in a row as a broken session, and says how to fix it', () => {
    const closing = { ...first, code: 500, failures: 4 };
    expect(decideAfterConnectionFailure({ ...closing, brokenSessions: 3 }, 0)).toMatchObject({
      kind: 'retry',
    });
    expect(decideAfterConnectionFailure({ ...closing, brokenSessions: 4 }, 0)).toMatchObject({
      kind: 'give-up',
      fix: expect.stringContaining('Linked devices'),
    });
  });
});
