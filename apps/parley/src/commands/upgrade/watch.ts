/** What one look at the running release shows. */
export interface WatchSample {
  /** Since the switch (ms). */
  readonly at: number;
  /** The state of `/readyz`; `silent` if it does not answer. */
  readonly health: 'ready' | 'degraded' | 'down' | 'silent';
  /** Starts after failures, as the system counts them. */
  readonly restarts: number;
  readonly errorLines: number;
  readonly deadLetters: number;
  /** Age (s) of the message that waits longest, and of the oldest unsent part. */
  readonly oldestMessageSeconds: number;
  readonly oldestPartSeconds: number;
  /** Messages that were accepted, and turns that ended, since the process started. */
  readonly messages: number;
  readonly turns: number;
  /** The average latency (ms) of its turns; null before the first. */
  readonly turnMs: number | null;
}

/** How the old release did, just before the switch. */
export interface WatchBaseline {
  readonly turnMs: number | null;
  readonly messagesPerMinute: number;
  readonly deadLetters: number;
}

export interface WatchLimits {
  /** How long (ms) the release is watched. */
  readonly watchMs: number;
  /** How long (ms) it may take to become ready, and how long it may be down later. */
  readonly startMs: number;
  readonly downMs: number;
  readonly restarts: number;
  readonly errorLines: number;
  readonly deadLetters: number;
  /** How long (s) a message or a part may wait. */
  readonly waitSeconds: number;
  /** With at least this many expected messages, none at all is silence. */
  readonly expectedMessages: number;
  /** Turns may take this many times as long, once there are `minTurns` of them. */
  readonly slower: number;
  readonly moreMs: number;
  readonly minTurns: number;
}

export const WATCH_LIMITS: WatchLimits = {
  ...{ watchMs: 10 * 60_000, startMs: 90_000, downMs: 45_000, restarts: 1 },
  ...{ errorLines: 20, deadLetters: 2, waitSeconds: 90, expectedMessages: 10 },
  ...{ slower: 4, moreMs: 5_000, minTurns: 5 },
};

export type WatchVerdict =
  | { readonly kind: 'watch' }
  | { readonly kind: 'keep' }
  | { readonly kind: 'return'; readonly reason: string };

const back = (reason: string): WatchVerdict => ({ kind: 'return', reason });

/** Decides after each look whether the new release stays, by errors, silence and latency. */
export function judgeWatch(
  samples: readonly WatchSample[],
  baseline: WatchBaseline,
  limits: WatchLimits,
): WatchVerdict {
  const now = samples.at(-1);
  if (now === undefined) return { kind: 'watch' };
  const reason = findError(now, baseline, limits) ?? findSilence(samples, now, baseline, limits);
  if (reason !== null) return back(reason);
  if (isSlow(now, baseline, limits))
    return back(`turns take ${now.turnMs} ms on average (before: ${baseline.turnMs} ms)`);
  if (now.at < limits.watchMs) return { kind: 'watch' };
  return isServing(now) ? { kind: 'keep' } : back('it is not ready at the end of the watch');
}

const isServing = ({ health }: WatchSample): boolean => health === 'ready' || health === 'degraded';

function findError(now: WatchSample, baseline: WatchBaseline, limits: WatchLimits): string | null {
  if (now.restarts > limits.restarts) return `it has failed and restarted ${now.restarts} times`;
  if (now.errorLines > limits.errorLines) return `it has logged ${now.errorLines} errors`;
  const letters = now.deadLetters - baseline.deadLetters;
  return letters > limits.deadLetters ? `${letters} messages became dead letters` : null;
}

function findSilence(
  samples: readonly WatchSample[],
  now: WatchSample,
  { messagesPerMinute }: WatchBaseline,
  { startMs, downMs, waitSeconds, expectedMessages }: WatchLimits,
): string | null {
  const lastServing = samples.findLast(isServing);
  if (lastServing === undefined)
    return now.at > startMs ? `it was not ready after ${Math.round(now.at / 1_000)} s` : null;
  if (now.at - lastServing.at > downMs)
    return `it is ${now.health === 'silent' ? 'silent' : 'down'} since ${Math.round((now.at - lastServing.at) / 1_000)} s`;
  if (now.oldestMessageSeconds > waitSeconds)
    return `a message waits for ${Math.round(now.oldestMessageSeconds)} s`;
  if (now.oldestPartSeconds > waitSeconds)
    return `an answer is unsent for ${Math.round(now.oldestPartSeconds)} s`;
  const expected = (messagesPerMinute * now.at) / 60_000;
  if (expected >= expectedMessages && now.messages === 0)
    return `no message arrived, although about ${Math.round(expected)} were expected`;
  return null;
}

function isSlow(
  { turnMs, turns }: WatchSample,
  { turnMs: was }: WatchBaseline,
  { slower, moreMs, minTurns }: WatchLimits,
): boolean {
  if (turnMs === null || was === null || turns < minTurns) return false;
  return turnMs > was * slower && turnMs > was + moreMs;
}
