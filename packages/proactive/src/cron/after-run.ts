import type { CronChange, CronJob } from '@parley/store';
import { nextTime } from './next-time.ts';

const MINUTE_MS = 60_000;
/** How long after a failure the next try comes at the earliest, the first failure first. */
const DELAYS_MIN = [1, 5, 15, 60];
/** After so many failures in a row a job is paused, or given up if it was for once. */
const MOST_FAILURES = DELAYS_MIN.length + 1;

/** What becomes of a job whose run is over; `gaveUp`: its chat is told. */
export interface AfterRun {
  readonly change: CronChange;
  readonly gaveUp: boolean;
}

/**
 * Decides what follows a run that ended at `now` (ms). Only failures change the timetable: the next run
 * waits longer each time, and never comes between two times of the timetable.
 */
export function afterRun(
  job: Pick<CronJob, 'timetable' | 'state' | 'failures'>,
  outcome: string,
  now: number,
): AfterRun {
  if (outcome !== 'failed') return { change: { failures: 0 }, gaveUp: false };
  const failures = job.failures + 1;
  const isOnce = job.timetable.kind === 'once';
  // A person has paused it meanwhile: it stays as they left it.
  if (job.state === 'paused') return { change: { failures }, gaveUp: false };
  if (failures >= MOST_FAILURES) {
    return { change: { failures, state: isOnce ? 'over' : 'paused' }, gaveUp: true };
  }
  const earliest = now + delayAfter(failures);
  if (isOnce) return { change: { failures, state: 'on', nextAt: earliest }, gaveUp: false };
  const nextAt = job.state === 'on' ? nextTime(job.timetable, earliest - 1) : null;
  return { change: { failures, ...(nextAt !== null && { nextAt }) }, gaveUp: false };
}

/** The pause after so many failures in a row, in ms. */
export function delayAfter(failures: number): number {
  const last = DELAYS_MIN.at(-1) ?? 0;
  return (DELAYS_MIN[Math.max(0, failures - 1)] ?? last) * MINUTE_MS;
}
