import type { JobJson, JobState, JobType } from 'bullmq';
import { BackendBase } from './backend-base.ts';
import { claimOf } from './deduplication.ts';
import { notSupported } from './errors.ts';
import {
  bullState,
  countPriority,
  countState,
  finishedStatus,
  rangeOfState,
  schedulerRange,
} from './getters.ts';
import { readLogs } from './job-logs.ts';
import { findJob, toJobJson } from './job-row.ts';
import { getMetrics } from './metrics.ts';
import { isMaxed } from './queue-meta.ts';
import { reportedTtl } from './rate-limit.ts';
import { findScheduler } from './schedulers.ts';

/** The part of a backend that only asks. */
export class BackendQueries extends BackendBase {
  getJobData(jobId: string): Promise<JobJson | undefined> {
    return this.read((scope) => {
      const row = findJob(scope, jobId);
      return row && toJobJson(row);
    });
  }

  getState(jobId: string): Promise<JobState | 'unknown'> {
    return this.read((scope) => {
      const row = findJob(scope, jobId);
      return row ? bullState(row) : 'unknown';
    });
  }

  isFinished(jobId: string, returnValue?: boolean): Promise<number | [number, string]> {
    return this.read((scope) => {
      const [status, value] = finishedStatus(scope, jobId);
      return returnValue ? [status, value] : status;
    });
  }

  async isJobInState(state: string, jobId: string): Promise<boolean> {
    return (await this.getState(jobId)) === (state === 'wait' ? 'waiting' : state);
  }

  isMaxed(): Promise<boolean> {
    return this.read(isMaxed);
  }

  getDeduplicationJobId(deduplicationId: string): Promise<string | null> {
    return this.read((scope) => claimOf(scope, deduplicationId)?.job_id ?? null);
  }

  getJobLogs(
    jobId: string,
    start: number,
    end: number,
    asc: boolean,
  ): Promise<{ logs: string[]; count: number }> {
    return this.read((scope) => readLogs(scope, jobId, start, end, asc));
  }

  getRateLimitTtl(maxJobs?: number): Promise<number> {
    return this.read((scope) => reportedTtl(scope, maxJobs));
  }

  getCounts(types: JobType[], delayedTimestamp?: number): Promise<number[]> {
    return this.read((scope) => types.map((type) => countState(scope, type, delayedTimestamp)));
  }

  getCountsPerPriority(priorities: number[]): Promise<number[]> {
    return this.read((scope) => priorities.map((priority) => countPriority(scope, priority)));
  }

  /** One list of ids for each type; BullMQ declares the inner arrays as one-tuples. */
  getRanges(types: JobType[], start = 0, end = 1, asc = false): Promise<[string][]> {
    return this.read((scope) => {
      const ranges = types.map((type) => rangeOfState(scope, type, start, end, asc));
      return ranges as unknown as [string][];
    });
  }

  getMetrics(
    type: 'completed' | 'failed',
    start = 0,
    end = -1,
  ): Promise<[string[], string[], number]> {
    return this.read((scope) => getMetrics(scope, type, start, end));
  }

  getQueueMeta(): Promise<Record<string, string>> {
    return this.read((scope) => ({ ...scope.control.meta }));
  }

  getQueueMetaField(field: string): Promise<string | null> {
    return this.read((scope) => scope.control.meta[field] ?? null);
  }

  getQueueMetaFields(fields: string[]): Promise<(string | null)[]> {
    return this.read((scope) => fields.map((field) => scope.control.meta[field] ?? null));
  }

  hasQueueMetaField(field: string): Promise<boolean> {
    return this.read((scope) => scope.control.meta[field] !== undefined);
  }

  /** The scheduler as a flat `[key, value, …]` list with its next run, as Redis would answer. */
  getJobScheduler(id: string): Promise<[string[] | null, string | null]> {
    return this.read((scope) => {
      const found = findScheduler(scope, id);
      return found ? [Object.entries(found.fields).flat(), String(found.nextRun)] : [null, null];
    });
  }

  isJobScheduler(id: string): Promise<boolean> {
    return this.read((scope) => findScheduler(scope, id) !== undefined);
  }

  getJobSchedulerData(key: string): Promise<Record<string, string>> {
    return this.read((scope) => findScheduler(scope, key)?.fields ?? {});
  }

  getJobSchedulersRange(start: number, end: number, asc: boolean): Promise<string[]> {
    return this.read((scope) =>
      schedulerRange(scope, start, end, asc).flatMap(([id, nextRun]) => [id, String(nextRun)]),
    );
  }

  getJobSchedulersCount(): Promise<number> {
    return this.read((scope) => countState(scope, 'repeat', undefined));
  }

  // A job never has children here, so questions about them have true and empty answers.

  async getDependencyCounts(_jobId: string, types: string[]): Promise<number[]> {
    return types.map(() => 0);
  }

  async getDependencies(): Promise<{
    processed: Record<string, never>;
    unprocessed: string[];
    ignored: Record<string, never>;
    failed: string[];
  }> {
    return { processed: {}, unprocessed: [], ignored: {}, failed: [] };
  }

  async getProcessedChildrenValues(): Promise<Record<string, string>> {
    return {};
  }

  async getIgnoredChildrenFailures(): Promise<Record<string, string>> {
    return {};
  }

  async paginate(): Promise<never> {
    throw notSupported('flows (paging through the children of a job)');
  }
}
