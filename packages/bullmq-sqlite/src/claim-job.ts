import type { JobJson } from 'bullmq';
import { type JobRow, putInLine, toJobJson } from './job-row.ts';
import {
  countStartedJob,
  isPausedOrMaxed,
  type QueueScope,
  rateLimitTtl,
  type WorkerSettings,
} from './queue-scope.ts';

/** BullMQ's answer to "next job, please": the job, or how long to wait (ms) or until when. */
export type NextJob = [
  job: JobJson | null,
  jobId: string,
  rateLimitedForMs: number,
  nextDelayedAt: number,
];

/** Lock of a worker that does not say how long it wants one, in ms: BullMQ's default. */
const DEFAULT_LOCK_MS = 30_000;
/** Due jobs moved in one operation; the rest follows with the next call. */
const PROMOTED_AT_ONCE = 1000;

/** Starts the next job in line and locks it, unless the queue is paused, maxed or rate limited. */
export function claimNextJob(
  scope: QueueScope,
  token: string,
  workerName: string | undefined,
  settings: WorkerSettings,
): NextJob {
  const { waits, dueAt } = scope.outlook();
  if (dueAt <= scope.now) promoteDueJobs(scope);
  else if (!waits) return nothingToStart(dueAt);
  const { meta } = scope.control;
  const max = meta.max === undefined ? settings.limiter?.max : Number(meta.max);
  const limitedFor = rateLimitTtl(scope, max);
  if (limitedFor > 0) return [null, '', limitedFor, 0];
  if (isPausedOrMaxed(scope)) return [null, '', 0, 0];

  const job = activateFirst(scope, token, workerName, settings.lockDuration ?? DEFAULT_LOCK_MS);
  if (!job) return nothingToStart(scope.outlook().dueAt);
  if (max !== undefined && job.deferred_failure === null) {
    countStartedJob(scope, settings.limiter?.duration ?? Number(meta.duration ?? 0));
  }
  scope.emit('active', { jobId: job.id, prev: 'waiting' });
  return [toJobJson(job), job.id, 0, 0];
}

/** The answer while no job is in line; `dueAt`: when the earliest delayed one is due, or `Infinity`. */
export function nothingToStart(dueAt: number): NextJob {
  return [null, '', 0, Number.isFinite(dueAt) ? dueAt : 0];
}

/** Puts delayed jobs in line whose time has come. */
export function promoteDueJobs(scope: QueueScope): void {
  const due = scope.file.all<JobRow>(
    `SELECT * FROM job
     WHERE queue_id = ? AND state = 'delayed' AND lane = 0 AND rank <= ?
     ORDER BY rank, seq LIMIT ?`,
    scope.queueId,
    scope.now,
    PROMOTED_AT_ONCE,
  );
  for (const job of due) putInLine(scope, job, 'back', 0);
}

function activateFirst(
  scope: QueueScope,
  token: string,
  workerName: string | undefined,
  lockMs: number,
): JobRow | undefined {
  // Token "0" asks for no lock: BullMQ uses it for jobs that are moved by hand.
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
