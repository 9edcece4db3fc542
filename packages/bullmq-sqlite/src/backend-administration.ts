import {
  ErrorCode,
  type JobProgress,
  type JobsOptions,
  type MinimalJob,
  type RepeatableOptions,
  type RetryOptions,
} from 'bullmq';
import { removeClaim } from './add-job.ts';
import { BackendQueries, countLogLines } from './backend-queries.ts';
import { createJobStateError } from './errors.ts';
import { appendEvents, trimEvents } from './events.ts';
import {
  createDelayedPosition,
  createWaitingPosition,
  enqueueJob,
  findJob,
  type JobRow,
  jobExists,
  moveJob,
} from './job-row.ts';
import {
  clearRateLimit,
  type QueueScope,
  removeMeta,
  setMeta,
  setPaused,
  setRateLimit,
} from './queue-scope.ts';
import {
  createCleanSlice,
  createDrainSlice,
  findNewestJob,
  type JobSlice,
  obliterateQueue,
  removeJob,
  sweepJob,
} from './removal.ts';
import { advanceScheduler, removeScheduler, upsertScheduler } from './schedulers.ts';

/** The number of jobs removed in one sweep transaction, which takes a few ms. */
const SWEPT_AT_ONCE = 100;
/**
 * The number of jobs that one call to a bulk operation moves if the caller does not give a count.
 */
const MOVED_AT_ONCE = 1000;

/** The administrative operations on jobs and queues, for people and schedulers. */
export class BackendAdministration extends BackendQueries {
  /** Puts a finished job back in line. */
  retryFinishedJob(
    { id = '', opts: { lifo } }: MinimalJob,
    state: 'failed' | 'completed',
    resets: RetryOptions = {},
  ): Promise<void> {
    return this.write((scope) => {
      const job = findJobInState(scope, id, state, 'reprocessJob');
      clearOutcome(scope, job);
      scope.file.run(
        `UPDATE job SET attempts_made = iif(?, 0, attempts_made),
           attempts_started = iif(?, 0, attempts_started) WHERE seq = ?`,
        resets.resetAttemptsMade ? 1 : 0,
        resets.resetAttemptsStarted ? 1 : 0,
        job.seq,
      );
      enqueueJob(scope, job, lifo && job.priority === 0 ? 'front' : 'back');
    });
  }

  promote(jobId: string): Promise<void> {
    return this.write((scope) => {
      const job = findJob(scope, jobId);
      if (job?.state !== 'delayed') {
        throw createJobStateError(ErrorCode.JobNotInState, jobId, 'promote', 'delayed');
      }
      enqueueJob(scope, job, 'back', 0);
    });
  }

  retryFinishedJobs(
    state: 'failed' | 'completed' = 'failed',
    count = MOVED_AT_ONCE,
    timestamp = this.shared.clock(),
  ): Promise<number> {
    return this.write((scope) => moveJobsToWait(scope, state, count, timestamp));
  }

  promoteJobs(count = MOVED_AT_ONCE): Promise<number> {
    return this.write((scope) => moveJobsToWait(scope, 'delayed', count, Number.MAX_SAFE_INTEGER));
  }

  pause(paused: boolean): Promise<void> {
    return this.write((scope) => setPaused(scope, paused));
  }

  /** Removes the jobs that are waiting now; jobs added in the meantime stay. */
  async drain(delayed: boolean): Promise<void> {
    const newest = await this.read(findNewestJob);
    await this.#sweep(createDrainSlice(newest, delayed), Number.POSITIVE_INFINITY);
  }

  async cleanJobsByState(state: string, timestamp: number, limit = 0): Promise<string[]> {
    const jobs = createCleanSlice(state, timestamp);
    const most = limit > 0 ? limit : Number.POSITIVE_INFINITY;
    const removed = jobs ? await this.#sweep(jobs, most) : [];
    await this.write((scope) => scope.emit('cleaned', { count: removed.length }));
    return removed;
  }

  /**
   * Deletes up to `most` of the jobs that a sweep finds, and returns their ids. The event loop runs
   * between the transactions.
   */
  async #sweep(jobs: JobSlice, most: number): Promise<string[]> {
    const removed: string[] = [];
    let stay = 0;
    let isOver = false;
    while (!isOver) {
      await this.write((scope) => {
        const count = Math.min(SWEPT_AT_ONCE, most - removed.length - stay);
        const found = jobs(scope, stay, count);
        for (const job of found) {
          if (sweepJob(scope, job)) removed.push(job.id);
          else stay += 1;
        }
        isOver = found.length < SWEPT_AT_ONCE;
      });
    }
    return removed;
  }

  /**
   * Deletes part of the queue and returns 0 when nothing is left; BullMQ repeats the call until
   * then.
   */
  obliterate({ force }: { force: boolean; count: number }): Promise<number> {
    return this.write((scope) => (obliterateQueue(scope, force) ? 1 : 0));
  }

  /** Always returns 0: a job and its state are one row, so neither can exist without the other. */
  async removeOrphanedJobs(): Promise<number> {
    return 0;
  }

  updateData({ id = '' }: MinimalJob, data: unknown): Promise<void> {
    return this.write((scope) =>
      setJobColumn(scope, id, 'data', JSON.stringify(data) ?? '{}', 'updateData'),
    );
  }

  updateProgress(jobId: string, progress: JobProgress): Promise<void> {
    return this.write((scope) => {
      const data = JSON.stringify(progress) ?? 'null';
      setJobColumn(scope, jobId, 'progress', data, 'updateProgress');
      scope.emit('progress', { jobId, data });
    });
  }

  /**
   * Appends a line to a job's log, trims the log to the last `keep` lines if given, and returns its
   * length.
   */
  addLog(jobId: string, line: string, keep?: number): Promise<number> {
    return this.write((scope) => {
      if (!jobExists(scope, jobId))
        throw createJobStateError(ErrorCode.JobNotExist, jobId, 'addLog');
      scope.run(
        `INSERT INTO job_log (queue_id, job_id, line_no, line)
         SELECT ?1, ?2, coalesce(max(line_no), 0) + 1, ?3 FROM job_log
         WHERE queue_id = ?1 AND job_id = ?2`,
        jobId,
        line,
      );
      if (keep) trimLog(scope, jobId, keep);
      return countLogLines(scope, jobId);
    });
  }

  clearLogs(jobId: string, keep = 0): Promise<void> {
    return this.write((scope) => trimLog(scope, jobId, keep));
  }

  /** Changes a delayed job's delay, counted from now. */
  changeDelay(jobId: string, delay: number): Promise<void> {
    return this.write((scope) => {
      const job = findJobInState(scope, jobId, 'delayed', 'changeDelay');
      const position = createDelayedPosition(scope.now, delay);
      moveJob(scope, job.seq, position, delay);
      scope.emit('delayed', { jobId, delay: position.rank });
    });
  }

  /** Changes a job's priority and, if it is waiting, its place in line. */
  changePriority(jobId: string, priority = 0, lifo = false): Promise<void> {
    return this.write((scope) => {
      const job = findJob(scope, jobId);
      if (!job) throw createJobStateError(ErrorCode.JobNotExist, jobId, 'changePriority');
      if (job.state === 'waiting') {
        const position = createWaitingPosition(scope, priority, lifo ? 'front' : 'back');
        moveJob(scope, job.seq, position, job.delay);
      }
      scope.file.run('UPDATE job SET priority = ? WHERE seq = ?', priority, job.seq);
    });
  }

  remove(jobId: string): Promise<number> {
    return this.write((scope) => removeJob(scope, jobId));
  }

  /** Does nothing, because jobs in this backend do not have children. */
  async removeUnprocessedChildren(): Promise<void> {}

  /** Always returns false, because jobs in this backend do not have parents. */
  async removeChildDependency(): Promise<boolean> {
    return false;
  }

  removeDeduplicationKey(deduplicationId: string, jobId: string): Promise<number> {
    return this.write((scope) => removeClaim(scope, deduplicationId, jobId));
  }

  deleteDeduplicationKey(deduplicationId: string): Promise<number> {
    return this.write((scope) => removeClaim(scope, deduplicationId));
  }

  addJobScheduler(
    id: string,
    nextRun: number,
    data: string,
    templateOpts: JobsOptions,
    repeat: RepeatableOptions,
    jobOpts: JobsOptions,
  ): Promise<[string, number]> {
    return this.write((scope) =>
      upsertScheduler(scope, { id, nextRun, data, templateOpts, repeat, jobOpts }),
    );
  }

  updateJobSchedulerNextMillis(
    id: string,
    nextRun: number,
    _data: string,
    jobOpts: JobsOptions,
    producerId?: string,
  ): Promise<string | null> {
    return this.write((scope) => advanceScheduler(scope, id, nextRun, jobOpts, producerId));
  }

  removeJobScheduler(id: string): Promise<number> {
    return this.write((scope) => removeScheduler(scope, id));
  }

  setQueueMeta(values: Record<string, string | number>): Promise<number> {
    return this.write((scope) => setMeta(scope, values));
  }

  removeQueueMetaFields(fields: string[]): Promise<number> {
    return this.write((scope) => removeMeta(scope, fields));
  }

  setRateLimit(expireTimeMs: number): Promise<void> {
    return this.write((scope) => setRateLimit(scope, expireTimeMs));
  }

  removeRateLimitKey(): Promise<number> {
    return this.write(clearRateLimit);
  }

  /** Always returns 0, because such keys exist only in Redis. */
  async removeDeprecatedPriorityKey(): Promise<number> {
    return 0;
  }

  trimEvents(maxLength: number): Promise<number> {
    return this.write((scope) => trimEvents(scope, maxLength));
  }

  publishEvent(fields: Record<string, string | number>): Promise<string> {
    return this.write((scope) => {
      const { event, ...rest } = fields;
      scope.emit(String(event), rest);
      return appendEvents(scope) ?? '';
    });
  }
}

function findJobInState(
  scope: QueueScope,
  jobId: string,
  state: JobRow['state'],
  command: string,
): JobRow {
  const job = findJob(scope, jobId);
  if (!job) throw createJobStateError(ErrorCode.JobNotExist, jobId, command);
  if (job.state !== state)
    throw createJobStateError(ErrorCode.JobNotInState, jobId, command, state);
  return job;
}

function setJobColumn(
  scope: QueueScope,
  jobId: string,
  column: 'data' | 'progress',
  json: string,
  command: string,
): void {
  const changed = scope.file.run(
    `UPDATE job SET ${column} = ? WHERE queue_id = ? AND id = ?`,
    json,
    scope.queueId,
    jobId,
  );
  if (changed === 0) throw createJobStateError(ErrorCode.JobNotExist, jobId, command);
}

/**
 * Puts up to `count` jobs in line, with priority 0, that entered the given state at or before
 * `until` (Unix ms). Returns 1 if there may be more, otherwise 0.
 */
function moveJobsToWait(
  scope: QueueScope,
  state: 'completed' | 'failed' | 'delayed',
  count: number,
  until: number,
): 0 | 1 {
  const jobs = scope.all<JobRow>(
    `SELECT * FROM job WHERE queue_id = ? AND state = ? AND lane = 0 AND rank <= ?
     ORDER BY rank, seq LIMIT ?`,
    state,
    until,
    count,
  );
  for (const job of jobs) {
    if (state !== 'delayed') clearOutcome(scope, job);
    enqueueJob(scope, { ...job, priority: 0 }, 'back');
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

/** Deletes all but the last `keep` lines of a job's log. */
function trimLog(scope: QueueScope, jobId: string, keep: number): void {
  scope.run(
    `DELETE FROM job_log WHERE queue_id = ?1 AND job_id = ?2 AND line_no <= (
       SELECT line_no FROM job_log WHERE queue_id = ?1 AND job_id = ?2
       ORDER BY line_no DESC LIMIT 1 OFFSET ?3)`,
    jobId,
    keep,
  );
}
