import type { JobJson, JobState, JobType } from 'bullmq';
import { findClaim } from './add-job.ts';
import { BackendBase } from './backend-base.ts';
import { createNotSupportedError } from './errors.ts';
import { readMetric } from './finish-job.ts';
import { createStateFilter, findJob, isListState, toBullState, toJobJson } from './job-row.ts';
import { getReportedTtl, isAtConcurrencyLimit, type QueueScope } from './queue-scope.ts';
import { countFinishedJobs } from './removal.ts';
import { findScheduler } from './schedulers.ts';

/** A backend's read-only operations. */
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
      return row ? toBullState(row) : 'unknown';
    });
  }

  /**
   * Returns 0: not finished, 1: completed, 2: failed, -1: no such job; with the result if
   * requested.
   */
  isFinished(jobId: string, returnValue?: boolean): Promise<number | [number, string]> {
    return this.read((scope) => {
      const [status, value] = readFinishedStatus(scope, jobId);
      return returnValue ? [status, value] : status;
    });
  }

  async isJobInState(state: string, jobId: string): Promise<boolean> {
    return (await this.getState(jobId)) === (state === 'wait' ? 'waiting' : state);
  }

  isMaxed(): Promise<boolean> {
    return this.read(isAtConcurrencyLimit);
  }

  getDeduplicationJobId(deduplicationId: string): Promise<string | null> {
    return this.read((scope) => findClaim(scope, deduplicationId)?.job_id ?? null);
  }

  getJobLogs(
    jobId: string,
    start: number,
    end: number,
    asc: boolean,
  ): Promise<{ logs: string[]; count: number }> {
    return this.read((scope) => {
      const count = countLogLines(scope, jobId);
      const rows = scope.all<{ line: string }>(
        `SELECT line FROM job_log WHERE queue_id = ? AND job_id = ?
         ORDER BY line_no ${asc ? 'ASC' : 'DESC'} LIMIT ? OFFSET ?`,
        jobId,
        ...toLimitAndOffset(start, end, () => count),
      );
      return { logs: rows.map((row) => row.line), count };
    });
  }

  getRateLimitTtl(maxJobs?: number): Promise<number> {
    return this.read((scope) => getReportedTtl(scope, maxJobs));
  }

  getCounts(types: JobType[], delayedTimestamp?: number): Promise<number[]> {
    return this.read((scope) =>
      types.map((type) => countJobsInState(scope, type, delayedTimestamp)),
    );
  }

  getCountsPerPriority(priorities: number[]): Promise<number[]> {
    const sql =
      "SELECT count(*) AS n FROM job WHERE queue_id = ? AND state = 'waiting' AND lane = ?";
    return this.read((scope) => priorities.map((priority) => countRows(scope, sql, priority)));
  }

  /** Returns one list of ids per type; BullMQ declares the inner arrays as one-tuples. */
  getRanges(types: JobType[], start = 0, end = 1, asc = false): Promise<[string][]> {
    return this.read((scope) => {
      const ranges = types.map((type) => listJobsInState(scope, type, start, end, asc));
      return ranges as unknown as [string][];
    });
  }

  /**
   * Returns `[[total, time of the last point, total at that time], points newest first, number of
   * points]`.
   */
  getMetrics(
    type: 'completed' | 'failed',
    start = 0,
    end = -1,
  ): Promise<[string[], string[], number]> {
    return this.read((scope) => {
      const row = readMetric(scope, type);
      if (!row) return [[], [], 0];
      const points = JSON.parse(row.points) as number[];
      const [limit, offset] = toLimitAndOffset(start, end, () => points.length);
      const page = points.slice(offset, limit < 0 ? undefined : offset + limit);
      const meta = [row.count, row.prev_ts, row.prev_count];
      return [meta.map(String), page.map(String), points.length];
    });
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

  /** Returns the scheduler as a flat `[key, value, …]` list and its next run, as Redis would. */
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
      listSchedulerRange(scope, start, end, asc).flatMap(({ id, next_run }) => [
        id,
        String(next_run),
      ]),
    );
  }

  getJobSchedulersCount(): Promise<number> {
    return this.read((scope) => countJobsInState(scope, 'repeat', undefined));
  }

  // Jobs never have children in this backend, so queries about children return empty answers.

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
    throw createNotSupportedError('flows (paging through the children of a job)');
  }
}

/** Counts the lines in a job's log. */
export function countLogLines(scope: QueueScope, jobId: string): number {
  return countRows(
    scope,
    'SELECT count(*) AS n FROM job_log WHERE queue_id = ? AND job_id = ?',
    jobId,
  );
}

function readFinishedStatus(scope: QueueScope, jobId: string): [number, string] {
  const job = findJob(scope, jobId);
  if (!job) return [-1, `Missing key for job ${jobId}. isFinished`];
  if (job.state === 'completed') return [1, job.return_value ?? 'null'];
  if (job.state === 'failed') return [2, job.failed_reason ?? ''];
  return [0, ''];
}

/**
 * Counts the jobs in a state. With `dueBefore` (Unix ms), counts only delayed jobs due before that
 * time.
 */
function countJobsInState(scope: QueueScope, state: string, dueBefore: number | undefined): number {
  if (state === 'repeat') {
    return countRows(scope, 'SELECT count(*) AS n FROM scheduler WHERE queue_id = ?');
  }
  if (state === 'completed' || state === 'failed') return countFinishedJobs(scope, state);
  const filter = createStateFilter(state);
  if (!filter) return 0;
  const sql = `SELECT count(*) AS n FROM job WHERE queue_id = ? AND ${filter}`;
  if (state !== 'delayed' || dueBefore === undefined) return countRows(scope, sql);
  return countRows(scope, `${sql} AND rank < ?`, dueBefore);
}

/**
 * Lists the ids of jobs in a state, from index `start` to `end` inclusive; negative indexes count
 * from the end. Ascending order starts with the next job to run, or the oldest. List states are
 * returned newest first, as in a Redis list, because BullMQ reverses them itself.
 */
function listJobsInState(
  scope: QueueScope,
  state: string,
  start: number,
  end: number,
  asc: boolean,
): string[] {
  if (state === 'repeat') return listSchedulerRange(scope, start, end, asc).map(({ id }) => id);
  const filter = createStateFilter(state);
  if (!filter) return [];
  const direction = asc ? 'ASC' : 'DESC';
  const rows = scope.all<{ id: string }>(
    `SELECT id FROM job WHERE queue_id = ? AND ${filter}
     ORDER BY lane ${direction}, rank ${direction}, seq ${direction} LIMIT ? OFFSET ?`,
    ...toLimitAndOffset(start, end, () => countJobsInState(scope, state, undefined)),
  );
  const ids = rows.map((row) => row.id);
  return asc && isListState(state) ? ids.toReversed() : ids;
}

/** Lists schedulers by their next run (Unix ms). */
function listSchedulerRange(
  scope: QueueScope,
  start: number,
  end: number,
  asc: boolean,
): { id: string; next_run: number }[] {
  const direction = asc ? 'ASC' : 'DESC';
  return scope.all(
    `SELECT id, next_run FROM scheduler WHERE queue_id = ?
     ORDER BY next_run ${direction}, id ${direction} LIMIT ? OFFSET ?`,
    ...toLimitAndOffset(start, end, () => countJobsInState(scope, 'repeat', undefined)),
  );
}

/** Converts Redis's inclusive indexes to SQL; a limit of -1 means no limit. */
function toLimitAndOffset(
  start: number,
  end: number,
  size: () => number,
): [limit: number, offset: number] {
  const from = start < 0 ? Math.max(size() + start, 0) : start;
  if (end === -1) return [-1, from];
  const to = end < 0 ? size() + end : end;
  return [Math.max(to - from + 1, 0), from];
}

function countRows(scope: QueueScope, sql: string, ...params: (number | string)[]): number {
  return scope.get<{ n: number }>(sql, ...params)?.n ?? 0;
}
