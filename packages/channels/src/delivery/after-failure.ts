import type { Button, ChannelFailure } from '@parley/core';

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
 * that is not there; an unknown outcome is repeated only where a repetition does no harm, a refusal is final.
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

/** What a chat reads about a part, in Markdown. `⚙️` marks the system (G08). */
export interface Notice {
  readonly markdown: string;
  readonly buttons?: Button[];
}

/**
 * Sent when it is unknown whether a part arrived (D04). `key` is the part's idempotency key; a command
 * takes the place of the button on platforms without buttons.
 */
export function uncertainNotice(key: string, hasButtons: boolean): Notice {
  const what =
    '⚙️ I was interrupted while sending a message, and cannot tell whether it arrived. If it is missing,';
  if (!hasButtons) return { markdown: `${what} \`/resend\` sends it again.` };
  const button = { label: 'Send it again', data: `/resend ${key}` };
  return { markdown: `${what} I can send it again.`, buttons: [button] };
}

/** Whether a chat can still get a notice of a failure. */
export function canBeReported(failure: ChannelFailure): boolean {
  return failure.kind !== 'gone' && failure.kind !== 'forbidden';
}

/** Sent when the platform refused a part for good. */
export function refusedNotice(reason: string): Notice {
  return { markdown: `⚙️ A part of my answer could not be delivered: ${reason}` };
}
