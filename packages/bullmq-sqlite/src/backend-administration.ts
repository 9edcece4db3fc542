import type { JobProgress, JobsOptions, MinimalJob, RepeatableOptions } from 'bullmq';
import { BackendQueries } from './backend-queries.ts';
import { cleanJobs, drainQueue, obliterateQueue } from './bulk-removal.ts';
import { removeClaim } from './deduplication.ts';
import { appendEvents, trimEvents } from './events.ts';
import { addLog, clearLogs } from './job-logs.ts';
import {
  changeDelay,
  changePriority,
  moveManyToWait,
  promoteJob,
  type Resets,
  reprocessJob,
  updateData,
  updateProgress,
} from './job-updates.ts';
import { removeMeta, setMeta, setPaused } from './queue-meta.ts';
import { clearRateLimit, setRateLimit } from './rate-limit.ts';
import { removeJob } from './remove-job.ts';
import { advanceScheduler, removeScheduler, upsertScheduler } from './schedulers.ts';

/** Jobs moved by one call of the bulk operations when the caller names no number. */
const MOVED_AT_ONCE = 1000;

/** The part of a backend with which people and schedulers act on jobs and queues. */
export class BackendAdministration extends BackendQueries {
  retryFinishedJob(
    job: MinimalJob,
    state: 'failed' | 'completed',
    opts: Resets = {},
  ): Promise<void> {
    return this.write((scope) =>
      reprocessJob(scope, job.id ?? '', state, Boolean(job.opts.lifo), opts),
    );
  }

  promote(jobId: string): Promise<void> {
    return this.write((scope) => promoteJob(scope, jobId));
  }

  retryFinishedJobs(
    state: 'failed' | 'completed' = 'failed',
    count = MOVED_AT_ONCE,
    timestamp = this.shared.clock(),
  ): Promise<number> {
    return this.write((scope) => moveManyToWait(scope, state, count, timestamp));
  }

  promoteJobs(count = MOVED_AT_ONCE): Promise<number> {
    return this.write((scope) => moveManyToWait(scope, 'delayed', count, Number.MAX_SAFE_INTEGER));
  }

  pause(paused: boolean): Promise<void> {
    return this.write((scope) => setPaused(scope, paused));
  }

  drain(delayed: boolean): Promise<void> {
    return this.write((scope) => drainQueue(scope, delayed));
  }

  cleanJobsByState(state: string, timestamp: number, limit = 0): Promise<string[]> {
    return this.write((scope) => cleanJobs(scope, state, timestamp, limit));
  }

  /** Everything in one go; 0 tells BullMQ that there is no rest. */
  obliterate({ force }: { force: boolean; count: number }): Promise<number> {
    return this.write((scope) => {
      obliterateQueue(scope, force);
      return 0;
    });
  }

  /** Always 0: a job and its state are one row, so neither can be without the other. */
  async removeOrphanedJobs(): Promise<number> {
    return 0;
  }

  updateData(job: MinimalJob, data: unknown): Promise<void> {
    return this.write((scope) => updateData(scope, job.id ?? '', JSON.stringify(data) ?? '{}'));
  }

  updateProgress(jobId: string, progress: JobProgress): Promise<void> {
    return this.write((scope) => updateProgress(scope, jobId, JSON.stringify(progress) ?? 'null'));
  }

  addLog(jobId: string, logRow: string, keepLogs?: number): Promise<number> {
    return this.write((scope) => addLog(scope, jobId, logRow, keepLogs));
  }

  clearLogs(jobId: string, keepLogs?: number): Promise<void> {
    return this.write((scope) => clearLogs(scope, jobId, keepLogs ?? 0));
  }

  changeDelay(jobId: string, delay: number): Promise<void> {
    return this.write((scope) => changeDelay(scope, jobId, delay));
  }

  changePriority(jobId: string, priority = 0, lifo = false): Promise<void> {
    return this.write((scope) => changePriority(scope, jobId, priority, lifo));
  }

  remove(jobId: string): Promise<number> {
    return this.write((scope) => removeJob(scope, jobId));
  }

  /** Nothing to do: no job has children here. */
  async removeUnprocessedChildren(): Promise<void> {}

  /** Always false: no job has a parent here. */
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

  /** Always 0: such keys exist only in Redis. */
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
