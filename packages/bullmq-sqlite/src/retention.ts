import type { JobRow } from './job-row.ts';
import type { QueueScope } from './queue-scope.ts';
import { deleteJob } from './remove-job.ts';

/** How much of the finished jobs is kept: `count` jobs (-1 for all), none older than `age` s. */
export interface Retention {
  readonly count: number | undefined;
  readonly age: number | undefined;
  /** At most this many old jobs are removed at once. */
  readonly limit: number;
}

/** BullMQ's default for `limit`. */
const REMOVED_AT_ONCE = 1000;

/**
 * Reads BullMQ's `removeOnComplete` / `removeOnFail`: the job's own value, else the worker's.
 * True keeps nothing, false everything, a number that many, an object says `age` and `count`.
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

/** Deletes finished jobs beyond what is kept, oldest first. */
export function applyRetention(
  scope: QueueScope,
  state: 'completed' | 'failed',
  { count, age, limit }: Retention,
): void {
  if (age !== undefined) {
    deleteAll(
      scope,
      `SELECT seq, id FROM job WHERE queue_id = ? AND state = ? AND lane = 0 AND rank <= ?
       ORDER BY rank DESC, seq DESC LIMIT ?`,
      [scope.queueId, state, scope.now - age * 1000, limit],
    );
  }
  if (count !== undefined && count > 0) {
    deleteAll(
      scope,
      `SELECT seq, id FROM job WHERE queue_id = ? AND state = ? AND lane = 0
       ORDER BY rank DESC, seq DESC LIMIT -1 OFFSET ?`,
      [scope.queueId, state, count],
    );
  }
}

function deleteAll(scope: QueueScope, sql: string, params: (string | number)[]): void {
  for (const job of scope.file.all<Pick<JobRow, 'seq' | 'id'>>(sql, ...params)) {
    deleteJob(scope, job);
  }
}
