import { BoundedMap, type Monotonic } from '@parley/core';

/** No wake-up is put off for longer, in ms: pauses after a failure, bursts and busy lanes are all shorter. */
export const MAX_PUT_OFF_MS = 5_000;

/** Keys whose delayed job is watched at a time; the oldest are watched again from the beginning. */
const WATCHED = 10_000;

/** A run that a job waits for: a job that was started since is delayed for another reason. */
interface DelayedRun {
  readonly jobId: string;
  readonly attemptsStarted: number;
}

/**
 * Notices delayed jobs that should have come long ago. BullMQ stores the wall-clock time at which a job is due, so
 * after the clock was set back it comes as much later as the clock was set back, and until then all wake-ups of its
 * key count as repetitions of it. How long a sweep has seen the same job wait depends on no clock.
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
