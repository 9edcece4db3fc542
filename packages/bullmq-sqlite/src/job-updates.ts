import { ErrorCode } from 'bullmq';
import { jobStateError } from './errors.ts';
import { findJob, type JobRow } from './job-row.ts';
import { delayedStanding, moveJob, waitingStanding } from './placement.ts';
import type { QueueScope } from './queue-scope.ts';

/** Replaces a job's payload (JSON text). */
export function updateData(scope: QueueScope, jobId: string, data: string): void {
  const changed = scope.file.run(
    'UPDATE job SET data = ? WHERE queue_id = ? AND id = ?',
    data,
    scope.queueId,
    jobId,
  );
  if (changed === 0) throw jobStateError(ErrorCode.JobNotExist, jobId, 'updateData');
}

/** Stores how far a job is (JSON text) and tells listeners. */
export function updateProgress(scope: QueueScope, jobId: string, progress: string): void {
  const changed = scope.file.run(
    'UPDATE job SET progress = ? WHERE queue_id = ? AND id = ?',
    progress,
    scope.queueId,
    jobId,
  );
  if (changed === 0) throw jobStateError(ErrorCode.JobNotExist, jobId, 'updateProgress');
  scope.emit('progress', { jobId, data: progress });
}

/** Sets a delayed job's delay anew, counted from now. */
export function changeDelay(scope: QueueScope, jobId: string, delay: number): void {
  const job = delayedJob(scope, jobId, 'changeDelay');
  const standing = delayedStanding(scope.now, delay);
  moveJob(scope, job.seq, standing, delay);
  scope.emit('delayed', { jobId, delay: standing.rank });
}

/** Puts a delayed job in line now. */
export function promoteJob(scope: QueueScope, jobId: string): void {
  const job = findJob(scope, jobId);
  if (job?.state !== 'delayed') {
    throw jobStateError(ErrorCode.JobNotInState, jobId, 'promote', 'delayed');
  }
  moveJob(scope, job.seq, waitingStanding(scope, job.priority, 'back'), 0);
  scope.emit('waiting', { jobId, prev: 'delayed' });
}

/** Changes a job's priority and, if it waits, its place in line. */
export function changePriority(
  scope: QueueScope,
  jobId: string,
  priority: number,
  lifo: boolean,
): void {
  const job = findJob(scope, jobId);
  if (!job) throw jobStateError(ErrorCode.JobNotExist, jobId, 'changePriority');
  if (job.state === 'waiting') {
    moveJob(scope, job.seq, waitingStanding(scope, priority, lifo ? 'front' : 'back'), job.delay);
  }
  scope.file.run('UPDATE job SET priority = ? WHERE seq = ?', priority, job.seq);
}

/** Which counters a second life of a finished job starts from zero. */
export interface Resets {
  readonly resetAttemptsMade?: boolean;
  readonly resetAttemptsStarted?: boolean;
}

/** Puts a finished job back in line. Throws when it is not in `state`. */
export function reprocessJob(
  scope: QueueScope,
  jobId: string,
  state: 'completed' | 'failed',
  lifo: boolean,
  resets: Resets,
): void {
  const job = findJob(scope, jobId);
  if (!job) throw jobStateError(ErrorCode.JobNotExist, jobId, 'reprocessJob', state);
  if (job.state !== state) {
    throw jobStateError(ErrorCode.JobNotInState, jobId, 'reprocessJob', state);
  }
  const end = lifo && job.priority === 0 ? 'front' : 'back';
  clearOutcome(scope, job);
  moveJob(scope, job.seq, waitingStanding(scope, job.priority, end), job.delay);
  scope.file.run(
    `UPDATE job SET attempts_made = iif(?, 0, attempts_made),
       attempts_started = iif(?, 0, attempts_started) WHERE seq = ?`,
    resets.resetAttemptsMade ? 1 : 0,
    resets.resetAttemptsStarted ? 1 : 0,
    job.seq,
  );
  scope.emit('waiting', { jobId, prev: state });
}

/**
 * Puts up to `count` jobs of a state in line that came into it by `until` (Unix ms), whatever their
 * priority. Returns 1 when there may be more, else 0.
 */
export function moveManyToWait(
  scope: QueueScope,
  state: 'completed' | 'failed' | 'delayed',
  count: number,
  until: number,
): 0 | 1 {
  const jobs = scope.file.all<JobRow>(
    `SELECT * FROM job WHERE queue_id = ? AND state = ? AND lane = 0 AND rank <= ?
     ORDER BY rank, seq LIMIT ?`,
    scope.queueId,
    state,
    until,
    count,
  );
  for (const job of jobs) {
    if (state !== 'delayed') clearOutcome(scope, job);
    moveJob(scope, job.seq, waitingStanding(scope, 0, 'back'), job.delay);
    scope.emit('waiting', { jobId: job.id, prev: state });
  }
  return jobs.length >= count ? 1 : 0;
}

function clearOutcome(scope: QueueScope, job: JobRow): void {
  scope.file.run(
    `UPDATE job SET finished_on = NULL, processed_on = NULL,
       return_value = iif(state = 'completed', NULL, return_value),
       failed_reason = iif(state = 'failed', NULL, failed_reason) WHERE seq = ?`,
    job.seq,
  );
}

function delayedJob(scope: QueueScope, jobId: string, command: string): JobRow {
  const job = findJob(scope, jobId);
  if (!job) throw jobStateError(ErrorCode.JobNotExist, jobId, command, 'delayed');
  if (job.state !== 'delayed') {
    throw jobStateError(ErrorCode.JobNotInState, jobId, command, 'delayed');
  }
  return job;
}
