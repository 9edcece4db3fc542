import { setTimeout as delay } from 'node:timers/promises';
import { systemTime } from '@parley/core';
import type { ChannelContext } from './adapter.ts';

/** Randomness and delays, which tests replace. */
export interface ChannelEnv {
  /** In [0, 1). */
  readonly random: () => number;
  /** Resolves after `ms`, or immediately when the signal is aborted; never rejects. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

export const realEnv: ChannelEnv = {
  random: systemTime.random,
  wait: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
};

const FIRST_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 60_000;

/**
 * Returns 1 s, 2 s, 4 s … 60 s, each shortened by up to half so that many accounts do not reconnect
 * at once.
 */
export function computeReconnectBackoff(failures: number, random: number): number {
  return jitterDelay(Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** failures), random);
}

/** What to do after a connection has failed or closed. */
export type ConnectionFailureDecision =
  | { readonly kind: 'retry'; readonly afterMs: number; readonly reason: string }
  /** The connection does not recover by itself. */
  | { readonly kind: 'give-up'; readonly reason: string; readonly fix: string };

/**
 * The remaining step once a cause outside Parley is fixed; changed settings reconnect
 * automatically.
 */
export const RECONNECT =
  'reconnect the account on the "Channels" page or with "parley channels reconnect"';

/** Reports the decision and waits for the delay. Returns whether to connect again. */
export async function reportAndWait(
  decision: ConnectionFailureDecision,
  {
    report,
    clock,
    wait,
  }: Pick<ChannelContext<unknown>, 'report' | 'clock'> & Pick<ChannelEnv, 'wait'>,
  signal: AbortSignal,
): Promise<boolean> {
  const { reason } = decision;
  if (decision.kind === 'give-up') {
    report({ kind: 'failed', reason, fix: decision.fix });
    return false;
  }
  report({ kind: 'retrying', reason, nextAttemptAt: clock() + decision.afterMs });
  await wait(decision.afterMs, signal);
  return true;
}

/** Shortens a delay (ms) by up to half; `random` is in [0, 1). */
export function jitterDelay(ms: number, random: number): number {
  return Math.round(ms * (0.5 + random / 2));
}
