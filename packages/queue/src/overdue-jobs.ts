import { BoundedMap, type Monotonic } from '@parley/core';

/** The maximum delay of any wake-up, in ms: retries, bursts and busy lanes all wait less. */
export const MAX_PUT_OFF_MS = 5_000;

/**
 * The maximum number of keys whose delayed job is watched; after an eviction, watching the key
 * starts over.
 */
const WATCHED = 10_000;

/**
 * Identifies one delay of a job: if the job has started since then, it is delayed for another
 * reason.
 */
interface DelayedRun {
  readonly jobId: string;
  readonly attemptsStarted: number;
}

/**
 * Detects delayed jobs that are overdue. BullMQ stores the wall-clock time at which a job is due.
 * If the clock is set back, the job is late by that amount, and until then all wake-ups for its key
 * are dropped as duplicates. The delay is therefore measured in monotonic time, for as long as
 * sweeps see the same delayed job.
 */
export function watchDelayedJobs(monotonic: Monotonic): (key: string, run: DelayedRun) => boolean {
  const seen = new BoundedMap<string, DelayedRun & { readonly since: number }>(WATCHED);
  return (key, run) => {
    const now = monotonic();
    const before = seen.get(key);
    if (before?.jobId !== run.jobId || before.attemptsStarted !== run.attemptsStarted) {
      seen.set(key, { ...run, since: now });
      return false;
    }
    return now - before.since > MAX_PUT_OFF_MS;
  };
}
