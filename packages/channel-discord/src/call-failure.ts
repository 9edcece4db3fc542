import { callOutcome } from '@parley/channels';
import { reasonOf } from '@parley/contracts';
import { DiscordAPIError, HTTPError, RateLimitError } from 'discord.js';

/** Why a call has no result; what matters is whether Discord may have carried it out. */
export type CallFailure =
  /** Discord said no; it did nothing. */
  | {
      readonly kind: 'refused';
      /** As HTTP: 400, 401, 403, 404, 413. */
      readonly status: number;
      /** Discord's own number, for example 50035; 0 where it has none. */
      readonly code: number;
      readonly reason: string;
    }
  /** It was not sent, or Discord refused it for being one too many. */
  | { readonly kind: 'rate-limited'; readonly retryAfterMs: number; readonly global: boolean }
  /** No connection came about; Discord knows of nothing. */
  | { readonly kind: 'not-sent'; readonly reason: string }
  /** The request may have arrived: reset, no answer in time, a gateway's error page. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** Reads what discord.js threw. */
export function callFailureOf(thrown: unknown): CallFailure {
  if (thrown instanceof RateLimitError) {
    const { retryAfter, timeToReset, sublimitTimeout, global } = thrown;
    const retryAfterMs = Math.ceil(Math.max(retryAfter, timeToReset, sublimitTimeout));
    return { kind: 'rate-limited', retryAfterMs, global };
  }
  if (thrown instanceof DiscordAPIError) {
    const { status, code, message } = thrown;
    return { kind: 'refused', status, code: Number(code) || 0, reason: message };
  }
  if (thrown instanceof HTTPError) {
    return { kind: 'unknown', reason: `HTTP ${thrown.status} ${thrown.message}`.trim() };
  }
  const reason = reasonOf(thrown);
  if (callOutcome({ error: thrown }) === 'not-sent') return { kind: 'not-sent', reason };
  const aborted = thrown instanceof Error && thrown.name === 'AbortError';
  return { kind: 'unknown', reason: aborted ? 'no answer in time' : reason };
}
