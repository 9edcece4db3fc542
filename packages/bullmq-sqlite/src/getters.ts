import type { JobRow } from './job-row.ts';
import { findJob } from './job-row.ts';
import type { QueueScope } from './queue-scope.ts';
import { isListState, stateFilter } from './state-filter.ts';

/** A job's state as BullMQ names it. */
export function bullState(job: Pick<JobRow, 'state' | 'lane'>): JobRow['state'] | 'prioritized' {
  return job.state === 'waiting' && job.lane > 0 ? 'prioritized' : job.state;
}

/** How many jobs are in a state; delayed ones only if due before `dueBefore` (Unix ms), if given. */
export function countState(
  scope: QueueScope,
  state: string,
  dueBefore: number | undefined,
): number {
  if (state === 'repeat') {
    return count(scope, 'SELECT count(*) AS n FROM scheduler WHERE queue_id = ?');
  }
  const filter = stateFilter(state);
  if (!filter) return 0;
  const sql = `SELECT count(*) AS n FROM job WHERE queue_id = ? AND ${filter}`;
  if (state !== 'delayed' || dueBefore === undefined) return count(scope, sql);
  return count(scope, `${sql} AND rank < ?`, dueBefore);
}

/** How many jobs of a priority wait. */
export function countPriority(scope: QueueScope, priority: number): number {
  return count(
    scope,
    "SELECT count(*) AS n FROM job WHERE queue_id = ? AND state = 'waiting' AND lane = ?",
    priority,
  );
}

/**
 * Ids of jobs in a state, from index `start` to `end` inclusive; negative indexes count from the
 * end. Ascending means next to run, or oldest, first. List states come out in the order of a Redis
 * list, newest first, because BullMQ turns those around itself.
 */
export function rangeOfState(
  scope: QueueScope,
  state: string,
  start: number,
  end: number,
  asc: boolean,
): string[] {
  if (state === 'repeat') return schedulerRange(scope, start, end, asc).map(([id]) => id);
  const filter = stateFilter(state);
  if (!filter) return [];
  const [offset, limit] = sliceOf(start, end, () => countState(scope, state, undefined));
  const direction = asc ? 'ASC' : 'DESC';
  const rows = scope.file.all<{ id: string }>(
    `SELECT id FROM job WHERE queue_id = ? AND ${filter}
     ORDER BY lane ${direction}, rank ${direction}, seq ${direction} LIMIT ? OFFSET ?`,
    scope.queueId,
    limit,
    offset,
  );
  const ids = rows.map((row) => row.id);
  return asc && isListState(state) ? ids.toReversed() : ids;
}

/** Schedulers by next run, as id and Unix ms. */
export function schedulerRange(
  scope: QueueScope,
  start: number,
  end: number,
  asc: boolean,
): [id: string, nextRun: number][] {
  const [offset, limit] = sliceOf(start, end, () => countState(scope, 'repeat', undefined));
  const direction = asc ? 'ASC' : 'DESC';
  return scope.file
    .all<{ id: string; next_run: number }>(
      `SELECT id, next_run FROM scheduler WHERE queue_id = ?
       ORDER BY next_run ${direction}, id ${direction} LIMIT ? OFFSET ?`,
      scope.queueId,
      limit,
      offset,
    )
    .map((row) => [row.id, row.next_run]);
}

/** BullMQ's answer to "is it done": 0 no, 1 completed, 2 failed, -1 no such job; with the result. */
export function finishedStatus(scope: QueueScope, jobId: string): [number, string] {
  const job = findJob(scope, jobId);
  if (!job) return [-1, `Missing key for job ${jobId}. isFinished`];
  if (job.state === 'completed') return [1, job.return_value ?? 'null'];
  if (job.state === 'failed') return [2, job.failed_reason ?? ''];
  return [0, ''];
}

/** Redis's inclusive indexes as SQL offset and limit. */
export function sliceOf(
  start: number,
  end: number,
  size: () => number,
): [offset: number, limit: number] {
  const from = start < 0 ? Math.max(size() + start, 0) : start;
  if (end === -1) return [from, -1];
  const to = end < 0 ? size() + end : end;
  return [from, Math.max(to - from + 1, 0)];
}

function count(scope: QueueScope, sql: string, ...params: number[]): number {
  return scope.file.get<{ n: number }>(sql, scope.queueId, ...params)?.n ?? 0;
}
