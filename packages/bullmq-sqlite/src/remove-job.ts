import { ErrorCode } from 'bullmq';
import { jobStateError } from './errors.ts';
import { findJob, type JobRow } from './job-row.ts';
import type { QueueScope } from './queue-scope.ts';

/** Deletes a job with its log. Its deduplication id stays taken: see {@link deleteJobAndClaim}. */
export function deleteJob(scope: QueueScope, job: Pick<JobRow, 'seq' | 'id'>): void {
  scope.file.run('DELETE FROM job WHERE seq = ?', job.seq);
  scope.file.run('DELETE FROM job_log WHERE queue_id = ? AND job_id = ?', scope.queueId, job.id);
}

/** Deletes a job that will not run any more, and gives back the deduplication id it owns. */
export function deleteJobAndClaim(
  scope: QueueScope,
  job: Pick<JobRow, 'seq' | 'id' | 'dedup_id'>,
): void {
  deleteJob(scope, job);
  if (job.dedup_id === null) return;
  const given = scope.file.run(
    'DELETE FROM dedup WHERE queue_id = ? AND id = ? AND job_id = ?',
    scope.queueId,
    job.dedup_id,
    job.id,
  );
  if (given === 0) return;
  scope.file.run(
    'DELETE FROM dedup_next WHERE queue_id = ? AND id = ?',
    scope.queueId,
    job.dedup_id,
  );
}

/** Removes one job. Returns 0 when a worker holds its lock; a missing job counts as removed. */
export function removeJob(scope: QueueScope, jobId: string): 0 | 1 {
  const job = findJob(scope, jobId);
  if (!job) return 1;
  if (isNextOfScheduler(scope, job)) {
    throw jobStateError(ErrorCode.JobBelongsToJobScheduler, jobId, 'removeJob');
  }
  if (isLocked(scope, job)) return 0;
  deleteJobAndClaim(scope, job);
  scope.emit('removed', { jobId, prev: listName(job) });
  return 1;
}

/** The id a scheduler gives to its job due at `runAt` (Unix ms). */
export function schedulerJobId(schedulerId: string, runAt: number): string {
  return `repeat:${schedulerId}:${runAt}`;
}

/** Whether this is the job a scheduler waits for; without it the schedule would end. */
export function isNextOfScheduler(
  scope: QueueScope,
  job: Pick<JobRow, 'id' | 'scheduler_id'>,
): boolean {
  if (job.scheduler_id === null) return false;
  const row = scope.file.get<{ next_run: number }>(
    'SELECT next_run FROM scheduler WHERE queue_id = ? AND id = ?',
    scope.queueId,
    job.scheduler_id,
  );
  return row !== undefined && job.id === schedulerJobId(job.scheduler_id, row.next_run);
}

/** Whether a worker holds an unexpired lock on the job. */
export function isLocked(
  scope: QueueScope,
  job: Pick<JobRow, 'lock_token' | 'lock_until'>,
): boolean {
  return job.lock_token !== null && job.lock_until > scope.now;
}

function listName(job: JobRow): string {
  if (job.state !== 'waiting') return job.state;
  return job.lane > 0 ? 'prioritized' : 'wait';
}
