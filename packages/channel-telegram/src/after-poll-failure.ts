import type { CallFailure } from './call-failure.ts';

/** What the poller does after a poll that failed. */
export type AfterPollFailure =
  | { readonly kind: 'retry'; readonly afterMs: number; readonly reason: string }
  /** A webhook is set, which forbids polling. */
  | { readonly kind: 'drop-webhook' }
  /** It will not mend itself. */
  | { readonly kind: 'give-up'; readonly reason: string; readonly mend: string };

const FIRST_BACKOFF_MS = 1_000;
const LONGEST_BACKOFF_MS = 60_000;
/** Two pollers end each other; the one that waits longer lets the other one work. */
const CONFLICT_MS = 10_000;

/** Decides after the n-th failure in a row (from 0). `random` is in [0, 1). */
export function afterPollFailure(
  failure: CallFailure,
  failures: number,
  random: number,
): AfterPollFailure {
  const afterMs = backoff(failures, random);
  if (failure.kind !== 'refused') {
    return { kind: 'retry', afterMs, reason: `Telegram cannot be reached: ${failure.reason}` };
  }
  const { code, reason } = failure;
  switch (code) {
    case 401:
    case 404:
      return {
        kind: 'give-up',
        reason: `Telegram refuses the bot token (${code} ${reason})`,
        mend: 'Copy the token from @BotFather into channels.telegram.token, check apiRoot if you set one, and start Parley again.',
      };
    case 409:
      // Removed once; if it comes back somebody else wants it, and fighting helps nobody.
      if (/webhook is active/i.test(reason) && failures === 0) return { kind: 'drop-webhook' };
      return {
        kind: 'retry',
        afterMs: Math.max(CONFLICT_MS, afterMs),
        reason: `another program uses the same bot token; stop it, or give it its own bot (${reason})`,
      };
    case 429:
      return { kind: 'retry', afterMs: failure.retryAfterMs ?? afterMs, reason };
    default:
      return {
        kind: 'retry',
        afterMs,
        reason: `Telegram refuses to bring messages: ${code} ${reason}`,
      };
  }
}

/** 1 s, 2 s, 4 s … 60 s, each shortened by up to half so that many bots do not return at once. */
export function backoff(failures: number, random: number): number {
  const full = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** failures);
  return Math.round(full * (0.5 + random / 2));
}
