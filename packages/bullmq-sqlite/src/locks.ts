import { ErrorCode } from 'bullmq';
import { jobStateError } from './errors.ts';
import { findJob, type JobRow } from './job-row.ts';
import type { QueueScope } from './queue-scope.ts';

/**
 * The active job that `token` has locked. Throws {@link JobStateError} when the job is gone, its
 * lock ran out or belongs to another worker, or it is not active. Token "0" skips the lock.
 */
export function heldJob(scope: QueueScope, jobId: string, token: string, command: string): JobRow {
  const job = findJob(scope, jobId);
  if (!job) throw jobStateError(ErrorCode.JobNotExist, jobId, command);
  if (token !== '0') {
    if (job.lock_token === null || job.lock_until <= scope.now) {
      throw jobStateError(ErrorCode.JobLockNotExist, jobId, command);
    }
    if (job.lock_token !== token) throw jobStateError(ErrorCode.JobLockMismatch, jobId, command);
  }
  if (job.state !== 'active') throw jobStateError(ErrorCode.JobNotInState, jobId, command);
  return job;
}

/** Extends a lock by `duration` ms from now; false when it ran out or is another worker's. */
export function extendLock(
  scope: QueueScope,
  jobId: string,
  token: string,
  duration: number,
): boolean {
  const changed = scope.file.run(
    `UPDATE job SET lock_until = ?, suspect = 0
     WHERE queue_id = ? AND id = ? AND lock_token = ? AND lock_until > ?`,
    scope.now + Math.ceil(duration),
    scope.queueId,
    jobId,
    token,
    scope.now,
  );
  return changed > 0;
}
