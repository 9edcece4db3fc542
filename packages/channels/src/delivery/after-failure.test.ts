import type { ChannelFailure } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { decideAfterFailure } from './after-failure.ts';

const decide = (
  failure: ChannelFailure,
  change: { attempts?: number; mayRepeat?: boolean; random?: number } = {},
) => decideAfterFailure({ failure, attempts: 0, mayRepeat: false, random: 0, ...change });

describe('handling a message part that could not be sent', () => {
  it('[D05] waits exactly as long as the platform requests, without counting an attempt', () => {
    const failure = { kind: 'rate-limited', retryAfterMs: 7_000, scope: 'chat' } as const;
    expect(decide(failure, { attempts: 99 })).toEqual({
      kind: 'retry',
      afterMs: 7_000,
      attempt: 'free',
    });
  });

  it.each([
    [0, 250],
    [1, 500],
    [4, 4_000],
  ])(
    'backs off exponentially after a transient failure: attempt %i waits at least %i ms',
    (attempts, afterMs) => {
      expect(decide({ kind: 'transient' }, { attempts })).toEqual({
        kind: 'retry',
        afterMs,
        attempt: 'counts',
      });
    },
  );

  it('never waits longer than a minute between attempts', () => {
    const decision = decide({ kind: 'transient' }, { attempts: 6, random: 0.999 });
    expect(decision).toMatchObject({ kind: 'retry' });
    expect(decision.kind === 'retry' && decision.afterMs).toBeLessThanOrEqual(60_000);
  });

  it('[D04] waits while there is no connection, without counting an attempt', () => {
    expect(decide({ kind: 'transient', untried: true }, { attempts: 7 })).toEqual({
      kind: 'retry',
      afterMs: 1_500,
      attempt: 'free',
    });
  });

  it('gives up after eight attempts', () => {
    expect(decide({ kind: 'transient' }, { attempts: 7 })).toEqual({
      kind: 'give-up',
      state: 'failed',
    });
  });

  it('[D04] never repeats an uncertain send when the platform cannot recognize the repetition', () => {
    expect(decide({ kind: 'unknown-outcome' })).toEqual({ kind: 'give-up', state: 'unknown' });
  });

  it('[D04] repeats an uncertain send when the platform recognizes its key', () => {
    expect(decide({ kind: 'unknown-outcome' }, { mayRepeat: true })).toMatchObject({
      kind: 'retry',
    });
  });

  it.each(['refused', 'refused-format', 'gone', 'forbidden'] as const)(
    '[D05] gives up immediately when the platform says "%s"',
    (kind) => {
      expect(decide({ kind }, { mayRepeat: true })).toEqual({
        kind: 'give-up',
        state: 'failed',
      });
    },
  );
});
