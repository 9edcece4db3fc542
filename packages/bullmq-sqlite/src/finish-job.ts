import { releaseDeduplication } from './add-job.ts';
import { findLockedJob, promoteDueJobs } from './claim-job.ts';
import { createDelayedPosition, enqueueJob, type JobRow, moveJob } from './job-row.ts';
import { getWindowTtl, type QueueScope } from './queue-scope.ts';
import { applyRetention, deleteJob, type Retention } from './removal.ts';

/** A job's outcome; `value` is JSON for a result and plain text for a failure reason. */
export type JobOutcome =
  | { readonly state: 'completed'; readonly value: string }
  | { readonly state: 'failed'; readonly value: string; readonly stacktrace: string | undefined };

/** How to finish a job: its worker's token, the outcome, and how many finished jobs to keep. */
export interface FinishRequest {
  readonly jobId: string;
  readonly token: string;
  /** The maximum number of attempts; 0 and 1 both mean one. */
  readonly attempts: number;
  readonly outcome: JobOutcome;
  readonly retention: Retention;
}

/** Ends an active job as completed or finally failed. */
export function finishJob(scope: QueueScope, finish: FinishRequest): void {
  const { outcome, retention } = finish;
  const job = findLockedJob(scope, finish.jobId, finish.token, 'moveToFinished');
  if (job.dedup_id !== null) releaseDeduplication(scope, job.dedup_id, job.id);
  if (retention.count === 0) {
    deleteJob(scope, job);
  } else {
    storeOutcome(scope, job, outcome);
    applyRetention(scope, outcome.state, retention);
  }
  announceOutcome(scope, job, finish);
}

/** Emits `drained` if no job is waiting or active. */
export function emitDrainedWhenEmpty(scope: QueueScope): void {
  if (!scope.keepsEvents) return;
  const left = scope.get(
    "SELECT 1 AS found FROM job WHERE queue_id = ? AND state IN ('waiting', 'active') LIMIT 1",
  );
  if (!left) scope.emit('drained');
}

function storeOutcome(scope: QueueScope, job: JobRow, outcome: JobOutcome): void {
  const failed = outcome.state === 'failed';
  scope.file.run(
    `UPDATE job SET state = ?1, lane = 0, rank = ?2, finished_on = ?2,
       attempts_made = attempts_made + 1, lock_token = NULL, lock_until = 0, suspect = 0,
       return_value = coalesce(?3, return_value), failed_reason = coalesce(?4, failed_reason),
       stacktrace = coalesce(?5, stacktrace),
       deferred_failure = CASE WHEN ?4 IS NULL THEN deferred_failure END
     WHERE seq = ?6`,
    outcome.state,
    scope.now,
    failed ? null : outcome.value,
    failed ? outcome.value : null,
    failed ? (outcome.stacktrace ?? null) : null,
    job.seq,
  );
}

function announceOutcome(
  scope: QueueScope,
  job: JobRow,
  { outcome, attempts }: FinishRequest,
): void {
  const attemptsMade = job.attempts_made + 1;
  if (outcome.state === 'completed') {
    scope.emit('completed', { jobId: job.id, returnvalue: outcome.value, prev: 'active' });
    return;
  }
  scope.emit('failed', { jobId: job.id, failedReason: outcome.value, prev: 'active' });
  if (attemptsMade >= attempts) scope.emit('retries-exhausted', { jobId: job.id, attemptsMade });
}

/** The changes to a job after a failed attempt. */
export interface FailedAttempt {
  readonly failedReason?: string;
  /** Stack traces as a JSON array. */
  readonly stacktrace?: string;
}

/** Delays an active job until `from + delay` (Unix ms, ms). */
export function delayActiveJob(
  scope: QueueScope,
  jobId: string,
  token: string,
  due: { readonly from: number; readonly delay: number; readonly countsAsAttempt: boolean },
  attempt: FailedAttempt,
): void {
  const job = findLockedJob(scope, jobId, token, 'moveToDelayed');
  const position = createDelayedPosition(due.from, due.delay);
  moveJob(scope, job.seq, position, due.delay);
  recordAttempt(scope, job, attempt, due.countsAsAttempt);
  scope.emit('delayed', { jobId, delay: position.rank });
}

/** Puts an active job back in line for its next attempt; with `lifo`, at the front. */
export function retryActiveJob(
  scope: QueueScope,
  jobId: string,
  token: string,
  lifo: boolean,
  attempt: FailedAttempt,
): void {
  promoteDueJobs(scope);
  const job = findLockedJob(scope, jobId, token, 'retryJob');
  enqueueJob(scope, job, lifo && job.priority === 0 ? 'front' : 'back');
  recordAttempt(scope, job, attempt, true);
}

/**
 * Returns an active job to the front of the line. Returns the remaining time of the rate limit in
 * ms.
 */
export function returnActiveJob(scope: QueueScope, jobId: string, token: string): number {
  enqueueJob(scope, findLockedJob(scope, jobId, token, 'moveJobFromActiveToWait'), 'front');
  return Math.max(getWindowTtl(scope), 0);
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

interface MetricRow {
  count: number;
  prev_ts: number;
  prev_count: number;
  points: string;
}

const MINUTE_MS = 60_000;

/** Counts one finished job, and completes the data points of past minutes. */
export function collectMetric(scope: QueueScope, kind: string, maxDataPoints: number): void {
  const before = readMetric(scope, kind);
  if (!before) {
    storeMetric(scope, kind, { count: 1, prev_ts: scope.now, prev_count: 0, points: '[]' });
    return;
  }
  const count = before.count + 1;
  const minutes = Math.min(
    Math.floor(scope.now / MINUTE_MS) - Math.floor(before.prev_ts / MINUTE_MS),
    maxDataPoints,
  );
  if (minutes <= 0) {
    storeMetric(scope, kind, { ...before, count });
    return;
  }
  // The points are ordered newest first. The jobs counted so far belong to the past minute; the
  // current job does not.
  const closed = [...Array<number>(minutes - 1).fill(0), before.count - before.prev_count];
  const points = [...closed, ...(JSON.parse(before.points) as number[])].slice(0, maxDataPoints);
  storeMetric(scope, kind, {
    count,
    prev_ts: scope.now,
    prev_count: before.count,
    points: JSON.stringify(points),
  });
}

/** Reads the counts for one kind of outcome. */
export function readMetric(scope: QueueScope, kind: string): MetricRow | undefined {
  return scope.get<MetricRow>(
    'SELECT count, prev_ts, prev_count, points FROM metric WHERE queue_id = ? AND kind = ?',
    kind,
  );
}

function storeMetric(scope: QueueScope, kind: string, row: MetricRow): void {
  scope.run(
    `INSERT OR REPLACE INTO metric (queue_id, kind, count, prev_ts, prev_count, points)
     VALUES (?, ?, ?, ?, ?, ?)`,
    kind,
    row.count,
    row.prev_ts,
    row.prev_count,
    row.points,
  );
}
