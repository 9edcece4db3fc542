import { ErrorCode } from 'bullmq';
import { isLocked } from './claim-job.ts';
import { createJobStateError, SqliteQueueError } from './errors.ts';
import { createStateFilter, findJob, type JobRow } from './job-row.ts';
import type { QueueScope } from './queue-scope.ts';

/** Deletes a job and its log; its deduplication id stays claimed, see {@link deleteJobAndClaim}. */
export function deleteJob(scope: QueueScope, job: Pick<JobRow, 'seq' | 'id'>): void {
  scope.file.run('DELETE FROM job WHERE seq = ?', job.seq);
  scope.run('DELETE FROM job_log WHERE queue_id = ? AND job_id = ?', job.id);
}

/** Deletes a job that will not run again, and releases its deduplication id. */
export function deleteJobAndClaim(
  scope: QueueScope,
  job: Pick<JobRow, 'seq' | 'id' | 'dedup_id'>,
): void {
  deleteJob(scope, job);
  if (job.dedup_id === null) return;
  const given = scope.run(
    'DELETE FROM dedup WHERE queue_id = ? AND id = ? AND job_id = ?',
    job.dedup_id,
    job.id,
  );
  if (given === 0) return;
  scope.run('DELETE FROM dedup_next WHERE queue_id = ? AND id = ?', job.dedup_id);
}

/** Removes one job. Returns 0 if a worker has locked the job; a missing job counts as removed. */
export function removeJob(scope: QueueScope, jobId: string): 0 | 1 {
  const job = findJob(scope, jobId);
  if (!job) return 1;
  if (isNextSchedulerJob(scope, job)) {
    throw createJobStateError(ErrorCode.JobBelongsToJobScheduler, jobId, 'removeJob');
  }
  if (isLocked(scope, job)) return 0;
  deleteJobAndClaim(scope, job);
  scope.emit('removed', { jobId, prev: getListName(job) });
  return 1;
}

/** Formats the id of a scheduler's job due at `runAt` (Unix ms). */
export function formatSchedulerJobId(schedulerId: string, runAt: number): string {
  return `repeat:${schedulerId}:${runAt}`;
}

/** Whether a job is a scheduler's next one, without which the schedule would end. */
function isNextSchedulerJob(scope: QueueScope, job: Pick<JobRow, 'id' | 'scheduler_id'>): boolean {
  if (job.scheduler_id === null) return false;
  const row = scope.get<{ next_run: number }>(
    'SELECT next_run FROM scheduler WHERE queue_id = ? AND id = ?',
    job.scheduler_id,
  );
  return row !== undefined && job.id === formatSchedulerJobId(job.scheduler_id, row.next_run);
}

function getListName(job: JobRow): string {
  if (job.state !== 'waiting') return job.state;
  return job.lane > 0 ? 'prioritized' : 'wait';
}

/**
 * Selects the jobs for a sweep in slices: each call reads up to `count` of the remaining jobs and
 * skips the first `skip` of them, which must stay.
 */
export type JobSlice = (scope: QueueScope, skip: number, count: number) => JobRow[];

/** Selects all waiting jobs up to `newest`, and the delayed ones on request. */
export function createDrainSlice(newest: number, withDelayed: boolean): JobSlice {
  const states = withDelayed ? "('waiting', 'delayed')" : "('waiting')";
  return (scope, skip, count) =>
    scope.all<JobRow>(
      `SELECT * FROM job WHERE queue_id = ? AND state IN ${states} AND seq <= ?
       LIMIT ? OFFSET ?`,
      newest,
      count,
      skip,
    );
}

/** Finds the sequence number of the newest job; jobs added later have higher numbers. */
export function findNewestJob(scope: QueueScope): number {
  return scope.file.get<{ seq: number }>('SELECT max(seq) AS seq FROM job')?.seq ?? 0;
}

/**
 * Selects jobs in a BullMQ state whose last step was at or before `until` (Unix ms), oldest first.
 * Returns undefined for a state without jobs.
 */
export function createCleanSlice(state: string, until: number): JobSlice | undefined {
  const filter = createStateFilter(state);
  if (!filter) return undefined;
  return (scope, skip, count) =>
    scope.all<JobRow>(
      `SELECT * FROM job WHERE queue_id = ? AND ${filter}
         AND coalesce(finished_on, processed_on, timestamp) <= ?
       ORDER BY lane, rank, seq LIMIT ? OFFSET ?`,
      Math.floor(until),
      count,
      skip,
    );
}

/**
 * Deletes a job found by a sweep. Returns false if a worker has locked the job or a scheduler needs
 * it.
 */
export function sweepJob(scope: QueueScope, job: JobRow): boolean {
  if (isLocked(scope, job) || isNextSchedulerJob(scope, job)) return false;
  deleteJobAndClaim(scope, job);
  return true;
}

/** Tables with rows per queue; jobs are deleted before these rows, in slices. */
const TABLES = ['dedup', 'dedup_next', 'scheduler', 'job_log', 'event', 'metric'] as const;
const OBLITERATED_AT_ONCE = 500;

/**
 * Deletes part of a paused queue and returns whether anything is left. Throws if the queue is not
 * paused, or if it has active jobs and `force` is not set.
 */
export function obliterateQueue(scope: QueueScope, force: boolean): boolean {
  if (scope.control.meta.paused === undefined) {
    throw new SqliteQueueError('queue-not-paused', 'Cannot obliterate non-paused queue');
  }
  const active = scope.get(
    "SELECT 1 AS found FROM job WHERE queue_id = ? AND state = 'active' LIMIT 1",
  );
  if (active && !force) {
    throw new SqliteQueueError('queue-has-active-jobs', 'Cannot obliterate queue with active jobs');
  }
  const gone = scope.run(
    'DELETE FROM job WHERE seq IN (SELECT seq FROM job WHERE queue_id = ? LIMIT ?)',
    OBLITERATED_AT_ONCE,
  );
  if (gone === OBLITERATED_AT_ONCE) return true;
  for (const table of TABLES) {
    scope.run(`DELETE FROM ${table} WHERE queue_id = ?`);
  }
  scope.run(`UPDATE queue SET meta = '{}', last_job_id = 0, limiter_count = 0, limiter_until = 0,
       stalled_check_until = 0 WHERE id = ?`);
  scope.forgetControl();
  return false;
}

/** Which finished jobs to keep: at most `count` (-1 for all), and none older than `age` seconds. */
export interface Retention {
  readonly count: number | undefined;
  readonly age: number | undefined;
  /** The maximum number of expired jobs removed in one operation. */
  readonly limit: number;
}

/** BullMQ's default for `limit`. */
const REMOVED_AT_ONCE = 1000;

/**
 * Reads BullMQ's `removeOnComplete` or `removeOnFail`: the job's own value, or else the worker's.
 * `true` keeps no jobs, `false` keeps all, a number keeps that many, and an object sets `age` and
 * `count`.
 */
export function readRetention(own: unknown, workers: unknown): Retention {
  const setting = own === undefined ? (workers ?? false) : own;
  if (typeof setting === 'object' && setting !== null) {
    const { age, count, limit } = setting as { age?: number; count?: number; limit?: number };
    return { age, count, limit: limit ?? REMOVED_AT_ONCE };
  }
  const count = typeof setting === 'number' ? setting : setting ? 0 : -1;
  return { age: undefined, count, limit: REMOVED_AT_ONCE };
}

/**
 * Deletes the finished jobs that the retention settings exclude; jobs beyond `count` are deleted
 * oldest first.
 */
export function applyRetention(
  scope: QueueScope,
  state: 'completed' | 'failed',
  { count, age, limit }: Retention,
): void {
  if (age !== undefined) {
    deleteSelectedJobs(
      scope,
      `SELECT seq, id FROM job WHERE queue_id = ? AND state = ? AND lane = 0 AND rank <= ?
       ORDER BY rank DESC, seq DESC LIMIT ?`,
      [scope.queueId, state, scope.now - age * 1000, limit],
    );
  }
  if (count !== undefined && count > 0) {
    const excess = countFinishedJobs(scope, state) - count;
    if (excess <= 0) return;
    deleteSelectedJobs(
      scope,
      `SELECT seq, id FROM job WHERE queue_id = ? AND state = ? AND lane = 0
       ORDER BY rank, seq LIMIT ?`,
      [scope.queueId, state, excess],
    );
  }
}

/** Returns the number of finished jobs, as counted by the schema's triggers. */
export function countFinishedJobs(scope: QueueScope, state: 'completed' | 'failed'): number {
  const row = scope.get<{ jobs: number }>(
    'SELECT jobs FROM kept WHERE queue_id = ? AND state = ?',
    state,
  );
  return row?.jobs ?? 0;
}

function deleteSelectedJobs(scope: QueueScope, sql: string, params: (string | number)[]): void {
  for (const job of scope.file.all<Pick<JobRow, 'seq' | 'id'>>(sql, ...params)) {
    deleteJob(scope, job);
  }
}
