import { SqliteQueueError } from './errors.ts';
import type { JobRow } from './job-row.ts';
import type { QueueScope } from './queue-scope.ts';
import { deleteJobAndClaim, isLocked, isNextOfScheduler } from './remove-job.ts';
import { stateFilter } from './state-filter.ts';

/** Removes all waiting jobs, and the delayed ones if asked; what schedulers planned stays. */
export function drainQueue(scope: QueueScope, withDelayed: boolean): void {
  const jobs = scope.file.all<JobRow>(
    `SELECT * FROM job WHERE queue_id = ? AND (state = 'waiting' OR (? AND state = 'delayed'))`,
    scope.queueId,
    withDelayed ? 1 : 0,
  );
  for (const job of jobs) {
    if (!isNextOfScheduler(scope, job)) deleteJobAndClaim(scope, job);
  }
}

/**
 * Removes jobs of a BullMQ state whose last step was at or before `until` (Unix ms), oldest first
 * and at most `limit` (0 for all). Locked jobs and what schedulers planned stay. Returns the ids.
 */
export function cleanJobs(
  scope: QueueScope,
  state: string,
  until: number,
  limit: number,
): string[] {
  const filter = stateFilter(state);
  const jobs = filter
    ? scope.file.all<JobRow>(
        `SELECT * FROM job WHERE queue_id = ? AND ${filter}
           AND coalesce(finished_on, processed_on, timestamp) <= ?
         ORDER BY lane, rank, seq LIMIT ?`,
        scope.queueId,
        Math.floor(until),
        limit > 0 ? limit : -1,
      )
    : [];
  const removed = jobs.filter((job) => !isLocked(scope, job) && !isNextOfScheduler(scope, job));
  for (const job of removed) deleteJobAndClaim(scope, job);
  scope.emit('cleaned', { count: removed.length });
  return removed.map((job) => job.id);
}

/** Tables whose rows belong to one queue. */
const TABLES = ['job', 'dedup', 'dedup_next', 'scheduler', 'job_log', 'event', 'metric'] as const;

/** Deletes everything of a paused queue. Throws when it is not paused, or has active jobs unforced. */
export function obliterateQueue(scope: QueueScope, force: boolean): void {
  if (scope.control.meta.paused === undefined) {
    throw new SqliteQueueError('queue-not-paused', 'Cannot obliterate non-paused queue');
  }
  const active = scope.file.get(
    "SELECT 1 AS found FROM job WHERE queue_id = ? AND state = 'active' LIMIT 1",
    scope.queueId,
  );
  if (active && !force) {
    throw new SqliteQueueError('queue-has-active-jobs', 'Cannot obliterate queue with active jobs');
  }
  for (const table of TABLES) {
    scope.file.run(`DELETE FROM ${table} WHERE queue_id = ?`, scope.queueId);
  }
  scope.file.run(
    `UPDATE queue SET meta = '{}', last_job_id = 0, limiter_count = 0, limiter_until = 0,
       stalled_check_until = 0 WHERE id = ?`,
    scope.queueId,
  );
  scope.forgetControl();
}
