import type { ChannelFailure } from '@parley/contracts';

/** What to do with a part whose sending failed. */
export type AfterFailure =
  | { readonly kind: 'retry'; readonly afterMs: number; readonly attempt: 'counts' | 'free' }
  | { readonly kind: 'give-up'; readonly state: 'failed' | 'unknown' };

/** What the decision is made from. `random` is in [0, 1). */
export interface FailureFacts {
  readonly failure: ChannelFailure;
  /** Attempts that counted before this one. */
  readonly attempts: number;
  /** The part may be sent again although it may have arrived. */
  readonly mayRepeat: boolean;
  readonly random: number;
}

const MAX_ATTEMPTS = 8;
const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 60_000;
/** However long a connection is away: what waits for it is not given up. */
const UNTRIED_MS = 3_000;

/**
 * Decides whether a part is tried again (D04, D05): a rate limit costs no attempt, nor does a connection
 * that is not there; an outcome nobody knows is repeated only where a repetition does no harm, a refusal is final.
 */
export function afterFailure(facts: FailureFacts): AfterFailure {
  const { failure } = facts;
  switch (failure.kind) {
    case 'rate-limited':
      return { kind: 'retry', afterMs: failure.retryAfterMs, attempt: 'free' };
    case 'transient':
      if (failure.untried)
        return { kind: 'retry', afterMs: spread(UNTRIED_MS, facts), attempt: 'free' };
      return tryAgain(facts, 'failed');
    case 'unknown-outcome':
      return facts.mayRepeat ? tryAgain(facts, 'unknown') : { kind: 'give-up', state: 'unknown' };
    case 'refused-format':
    case 'refused':
    case 'gone':
    case 'forbidden':
      return { kind: 'give-up', state: 'failed' };
  }
}

function tryAgain(facts: FailureFacts, otherwise: 'failed' | 'unknown'): AfterFailure {
  if (facts.attempts + 1 >= MAX_ATTEMPTS) return { kind: 'give-up', state: otherwise };
  const backoff = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** facts.attempts);
  return {
    kind: 'retry',
    afterMs: spread(backoff, facts),
    attempt: 'counts',
  };
}

/** Shortened by up to half, so that many do not come back at once. */
function spread(ms: number, { random }: FailureFacts): number {
  return Math.round(ms * (0.5 + random / 2));
}
