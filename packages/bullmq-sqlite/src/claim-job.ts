import { ErrorCode, type JobJson } from 'bullmq';
import { createJobStateError } from './errors.ts';
import { enqueueJob, findJob, type JobRow, toJobJson } from './job-row.ts';
import {
  countStartedJob,
  getRateLimitTtl,
  isPausedOrAtLimit,
  type QueueScope,
  type WorkerSettings,
} from './queue-scope.ts';

/**
 * BullMQ's result for the next job: the job itself, how long to wait (ms), or the time until which
 * to wait.
 */
export type NextJob = [
  job: JobJson | null,
  jobId: string,
  rateLimitedForMs: number,
  nextDelayedAt: number,
];

/** The lock duration for a worker that does not set one, in ms: BullMQ's default. */
const DEFAULT_LOCK_MS = 30_000;
/** The number of due jobs moved in one operation; the next call moves more. */
const PROMOTED_AT_ONCE = 1000;

/**
 * Starts and locks the next job in line, unless the queue is paused, rate limited or at its
 * concurrency limit.
 */
export function claimNextJob(
  scope: QueueScope,
  token: string,
  workerName: string | undefined,
  settings: WorkerSettings,
): NextJob {
  const { waits, dueAt } = scope.outlook();
  if (dueAt <= scope.now) promoteDueJobs(scope);
  else if (!waits) return createEmptyClaim(dueAt);
  const { meta } = scope.control;
  const max = meta.max === undefined ? settings.limiter?.max : Number(meta.max);
  const limitedFor = getRateLimitTtl(scope, max);
  if (limitedFor > 0) return [null, '', limitedFor, 0];
  if (isPausedOrAtLimit(scope)) return [null, '', 0, 0];

  const job = activateFirstJob(scope, token, workerName, settings.lockDuration ?? DEFAULT_LOCK_MS);
  if (!job) return createEmptyClaim(scope.outlook().dueAt);
  if (max !== undefined && job.deferred_failure === null) {
    countStartedJob(scope, settings.limiter?.duration ?? Number(meta.duration ?? 0));
  }
  scope.emit('active', { jobId: job.id, prev: 'waiting' });
  return [toJobJson(job), job.id, 0, 0];
}

/**
 * Creates the result when no job is in line; `dueAt` is when the earliest delayed job is due, or
 * `Infinity`.
 */
export function createEmptyClaim(dueAt: number): NextJob {
  return [null, '', 0, Number.isFinite(dueAt) ? dueAt : 0];
}

/** Puts due delayed jobs in line. */
export function promoteDueJobs(scope: QueueScope): void {
  const due = scope.all<JobRow>(
    `SELECT * FROM job
     WHERE queue_id = ? AND state = 'delayed' AND lane = 0 AND rank <= ?
     ORDER BY rank, seq LIMIT ?`,
    scope.now,
    PROMOTED_AT_ONCE,
  );
  for (const job of due) enqueueJob(scope, job, 'back', 0);
}

function activateFirstJob(
  scope: QueueScope,
  token: string,
  workerName: string | undefined,
  lockMs: number,
): JobRow | undefined {
  // Token "0" requests no lock; BullMQ uses it for jobs that are moved manually.
  const takesLock = token !== '0';
  return scope.file.get<JobRow>(
    `UPDATE job SET state = 'active', lane = 0, rank = ?1, processed_on = ?1,
       processed_by = coalesce(?2, processed_by), attempts_started = attempts_started + 1,
       lock_token = ?3, lock_until = ?4, suspect = 0
     WHERE seq = (SELECT seq FROM job WHERE queue_id = ?5 AND state = 'waiting'
                  ORDER BY lane, rank, seq LIMIT 1)
     RETURNING *`,
    scope.now,
    workerName ?? null,
    takesLock ? token : null,
    takesLock ? scope.now + lockMs : 0,
    scope.queueId,
  );
}

/**
 * Returns the active job that `token` has locked. Throws {@link JobStateError} if the job no longer
 * exists or is not active, if its lock has expired, or if the lock belongs to another worker. Token
 * "0" skips the lock check.
 */
export function findLockedJob(
  scope: QueueScope,
  jobId: string,
  token: string,
  command: string,
): JobRow {
  const job = findJob(scope, jobId);
  if (!job) throw createJobStateError(ErrorCode.JobNotExist, jobId, command);
  if (token !== '0') {
    if (job.lock_token === null || job.lock_until <= scope.now) {
      throw createJobStateError(ErrorCode.JobLockNotExist, jobId, command);
    }
    if (job.lock_token !== token)
      throw createJobStateError(ErrorCode.JobLockMismatch, jobId, command);
  }
  if (job.state !== 'active') throw createJobStateError(ErrorCode.JobNotInState, jobId, command);
  return job;
}

/** Whether a worker holds an unexpired lock on the job. */
export function isLocked(
  scope: QueueScope,
  job: Pick<JobRow, 'lock_token' | 'lock_until'>,
): boolean {
  return job.lock_token !== null && job.lock_until > scope.now;
}

/**
 * Extends a lock to `duration` ms from now. Returns false if it has expired or belongs to another
 * worker.
 */
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

/** BullMQ's defaults for missing worker settings. */
const DEFAULT_MAX_STALLED = 1;
const DEFAULT_INTERVAL_MS = 30_000;

/**
 * Puts active jobs back in line if their worker stopped renewing the lock, and returns their ids.
 * This takes two rounds, one interval apart. The first round marks every active job as suspect, and
 * renewing a lock clears the mark. The second round returns jobs that are still marked and whose
 * lock has expired.
 */
export function recoverStalledJobs(scope: QueueScope, settings: WorkerSettings): string[] {
  if (scope.control.stalledCheckUntil > scope.now) return [];
  scope.file.run(
    'UPDATE queue SET stalled_check_until = ? WHERE id = ?',
    scope.now + (settings.stalledInterval ?? DEFAULT_INTERVAL_MS),
    scope.queueId,
  );
  const suspects = listActiveJobs(scope, true).filter((job) => !isLocked(scope, job));
  for (const job of suspects) {
    returnStalledJob(scope, job, settings.maxStalledCount ?? DEFAULT_MAX_STALLED);
  }
  scope.run("UPDATE job SET suspect = 1 WHERE queue_id = ? AND state = 'active' AND suspect = 0");
  return suspects.map((job) => job.id);
}

/**
 * Puts every active job back in line, locked or not, oldest first. Call this only if no process can
 * be working on the queue. Returns the ids of the jobs.
 */
export function releaseActiveJobs(scope: QueueScope, maxStalledCount: number): string[] {
  const jobs = listActiveJobs(scope, false);
  // Each job is placed at the front, so the last one placed runs first.
  for (const job of jobs.toReversed()) returnStalledJob(scope, job, maxStalledCount);
  return jobs.map((job) => job.id);
}

function listActiveJobs(scope: QueueScope, suspectsOnly: boolean): JobRow[] {
  return scope.all<JobRow>(
    `SELECT * FROM job WHERE queue_id = ? AND state = 'active' AND suspect >= ?
     ORDER BY lane, rank, seq`,
    suspectsOnly ? 1 : 0,
  );
}

/**
 * A job that has stalled too often is marked. The worker that next claims it fails it without
 * running it.
 */
function returnStalledJob(scope: QueueScope, job: JobRow, maxStalledCount: number): void {
  const tooOften = job.stalled_count + 1 > maxStalledCount && !isScheduled(scope, job);
  enqueueJob(scope, { ...job, priority: 0 }, 'front');
  scope.file.run(
    `UPDATE job SET stalled_count = stalled_count + 1,
       deferred_failure = coalesce(?, deferred_failure) WHERE seq = ?`,
    tooOften ? 'job stalled more than allowable limit' : null,
    job.seq,
  );
  scope.emit('stalled', { jobId: job.id });
}

function isScheduled(scope: QueueScope, job: JobRow): boolean {
  if (job.scheduler_id === null) return false;
  const row = scope.get(
    'SELECT 1 AS found FROM scheduler WHERE queue_id = ? AND id = ?',
    job.scheduler_id,
  );
  return row !== undefined;
}
