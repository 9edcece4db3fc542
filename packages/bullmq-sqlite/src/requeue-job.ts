import { promoteDueJobs } from './claim-job.ts';
import type { JobRow } from './job-row.ts';
import { heldJob } from './locks.ts';
import { delayedStanding, moveJob, waitingStanding } from './placement.ts';
import type { QueueScope } from './queue-scope.ts';
import { windowTtl } from './rate-limit.ts';

/** What a failed attempt leaves on the job. */
export interface FailedAttempt {
  readonly failedReason?: string;
  /** JSON text of an array of stack traces. */
  readonly stacktrace?: string;
}

/** Puts an active job aside until `from + delay` (Unix ms, ms). */
export function delayActiveJob(
  scope: QueueScope,
  jobId: string,
  token: string,
  due: { readonly from: number; readonly delay: number; readonly countsAsAttempt: boolean },
  attempt: FailedAttempt,
): void {
  const job = heldJob(scope, jobId, token, 'moveToDelayed');
  const standing = delayedStanding(due.from, due.delay);
  moveJob(scope, job.seq, standing, due.delay);
  recordAttempt(scope, job, attempt, due.countsAsAttempt);
  scope.emit('delayed', { jobId, delay: standing.rank });
}

/** Puts an active job back in line for its next attempt; `lifo` puts it first. */
export function retryActiveJob(
  scope: QueueScope,
  jobId: string,
  token: string,
  lifo: boolean,
  attempt: FailedAttempt,
): void {
  promoteDueJobs(scope);
  const job = heldJob(scope, jobId, token, 'retryJob');
  const end = lifo && job.priority === 0 ? 'front' : 'back';
  moveJob(scope, job.seq, waitingStanding(scope, job.priority, end), job.delay);
  recordAttempt(scope, job, attempt, true);
  scope.emit('waiting', { jobId, prev: 'active' });
}

/** Gives an active job back as the first in line; returns the ms left of the rate limit. */
export function returnActiveJob(scope: QueueScope, jobId: string, token: string): number {
  const job = heldJob(scope, jobId, token, 'moveJobFromActiveToWait');
  moveJob(scope, job.seq, waitingStanding(scope, job.priority, 'front'), job.delay);
  scope.emit('waiting', { jobId, prev: 'active' });
  return Math.max(windowTtl(scope), 0);
}

function recordAttempt(
  scope: QueueScope,
  job: JobRow,
  { failedReason, stacktrace }: FailedAttempt,
  countsAsAttempt: boolean,
): void {
  scope.file.run(
    `UPDATE job SET attempts_made = attempts_made + ?, failed_reason = coalesce(?, failed_reason),
       stacktrace = coalesce(?, stacktrace) WHERE seq = ?`,
    countsAsAttempt ? 1 : 0,
    failedReason ?? null,
    stacktrace ?? null,
    job.seq,
  );
}
