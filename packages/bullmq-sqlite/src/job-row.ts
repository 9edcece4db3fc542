import type { JobJson, JobsOptions } from 'bullmq';
import type { QueueScope } from './queue-scope.ts';

/** A job's stored state. BullMQ's `prioritized` is stored as `waiting` in a lane above 0. */
export type StoredState = 'waiting' | 'delayed' | 'active' | 'completed' | 'failed';

/** A job as stored; the schema explains `lane` and `rank` for each state. */
export interface JobRow {
  readonly seq: number;
  readonly id: string;
  readonly state: StoredState;
  readonly lane: number;
  readonly rank: number;
  readonly name: string;
  readonly data: string;
  readonly opts: string;
  readonly timestamp: number;
  readonly delay: number;
  readonly priority: number;
  readonly progress: string;
  readonly attempts_made: number;
  readonly attempts_started: number;
  readonly stalled_count: number;
  readonly processed_on: number | null;
  readonly processed_by: string | null;
  readonly finished_on: number | null;
  readonly return_value: string | null;
  readonly failed_reason: string | null;
  readonly stacktrace: string | null;
  readonly deferred_failure: string | null;
  readonly scheduler_id: string | null;
  readonly dedup_id: string | null;
  readonly lock_token: string | null;
  readonly lock_until: number;
}

/** A job to be stored, with the values that determine its place in line. */
export interface NewJob {
  readonly id: string;
  readonly name: string;
  /** The job's data as JSON text. */
  readonly data: string;
  readonly opts: JobsOptions;
  /** The time from which a delay counts, in Unix ms. */
  readonly timestamp: number;
  readonly schedulerId: string | undefined;
}

/** Returns the job with this id, or undefined. */
export function findJob(scope: QueueScope, jobId: string): JobRow | undefined {
  return scope.get<JobRow>('SELECT * FROM job WHERE queue_id = ? AND id = ?', jobId);
}

/** Whether a job with this id exists in any state. */
export function jobExists(scope: QueueScope, jobId: string): boolean {
  const row = scope.get('SELECT 1 AS found FROM job WHERE queue_id = ? AND id = ?', jobId);
  return row !== undefined;
}

/**
 * Converts a row to the JSON from which BullMQ builds its `Job`. Absent values are left out instead
 * of being undefined.
 */
export function toJobJson(row: JobRow): JobJson {
  return {
    id: row.id,
    name: row.name,
    data: row.data,
    opts: JSON.parse(row.opts) as JobsOptions,
    progress: JSON.parse(row.progress) as JobJson['progress'],
    attemptsMade: row.attempts_made,
    attemptsStarted: row.attempts_started,
    stalledCounter: row.stalled_count,
    timestamp: row.timestamp,
    delay: row.delay,
    priority: row.priority,
    ...toOptionalEntry('finishedOn', row.finished_on),
    ...toOptionalEntry('processedOn', row.processed_on),
    ...toOptionalEntry('repeatJobKey', row.scheduler_id),
    ...toOptionalEntry('deduplicationId', row.dedup_id),
    ...toOptionalEntry('deferredFailure', row.deferred_failure),
    ...toOptionalEntry('stacktrace', row.stacktrace),
    ...toOptionalEntry('processedBy', row.processed_by),
    // BullMQ declares both fields as always present, but its Redis backend leaves them undefined as
    // well.
    failedReason: row.failed_reason as string,
    returnvalue: row.return_value as string,
  };
}

function toOptionalEntry<K extends string, V>(key: K, value: V | null): { [P in K]?: V } {
  return (value === null ? {} : { [key]: value }) as { [P in K]?: V };
}

/** Where a job enters its lane: behind all other jobs or in front of them. */
export type LineEnd = 'back' | 'front';

/** A job's position: the three columns that change together when a job moves. */
export interface QueuePosition {
  readonly state: 'waiting' | 'delayed';
  readonly lane: number;
  readonly rank: number;
}

/**
 * Creates a place among the waiting jobs with one priority; priority 0 is the lane that runs first.
 */
export function createWaitingPosition(
  scope: QueueScope,
  priority: number,
  end: LineEnd,
): QueuePosition {
  const [order, step] = end === 'back' ? ['DESC', 1] : ['ASC', -1];
  const edge = scope.get<{ rank: number }>(
    `SELECT rank FROM job WHERE queue_id = ? AND state = 'waiting' AND lane = ? ORDER BY rank ${order} LIMIT 1`,
    priority,
  );
  return { state: 'waiting', lane: priority, rank: (edge?.rank ?? 0) + step };
}

/**
 * Creates a place among the delayed jobs, due `delay` ms after `from` (Unix ms), or immediately for
 * 0.
 */
export function createDelayedPosition(from: number, delay: number): QueuePosition {
  return { state: 'delayed', lane: 0, rank: Math.floor(from + Math.max(delay, 0)) };
}

/**
 * Puts a stored job in line, keeping its delay for BullMQ's `job.delay` unless another is given.
 */
export function enqueueJob(
  scope: QueueScope,
  job: Pick<JobRow, 'seq' | 'id' | 'state' | 'priority' | 'delay'>,
  end: LineEnd,
  delay = job.delay,
): void {
  moveJob(scope, job.seq, createWaitingPosition(scope, job.priority, end), delay);
  scope.emit('waiting', { jobId: job.id, prev: job.state });
}

/** Moves a job and removes its lock. */
export function moveJob(scope: QueueScope, seq: number, to: QueuePosition, delay: number): void {
  scope.file.run(
    'UPDATE job SET state = ?, lane = ?, rank = ?, delay = ?, lock_token = NULL, lock_until = 0, suspect = 0 WHERE seq = ?',
    to.state,
    to.lane,
    to.rank,
    Math.floor(delay),
    seq,
  );
}

/** Converts a job's state to BullMQ's terms. */
export function toBullState(job: Pick<JobRow, 'state' | 'lane'>): JobRow['state'] | 'prioritized' {
  return job.state === 'waiting' && job.lane > 0 ? 'prioritized' : job.state;
}

/**
 * Creates the SQL condition for a BullMQ state. Undefined for states that jobs in this backend
 * never have: `paused`, because the jobs in a paused queue stay waiting, and `waiting-children`,
 * which belongs to flows.
 */
export function createStateFilter(state: string): string | undefined {
  switch (state) {
    case 'wait':
    case 'waiting':
      return "state = 'waiting' AND lane = 0";
    case 'prioritized':
      return "state = 'waiting' AND lane > 0";
    case 'delayed':
    case 'active':
    case 'completed':
    case 'failed':
      return `state = '${state}'`;
    default:
      return undefined;
  }
}

/** BullMQ's `getRanges` reverses these states itself, because Redis keeps them in lists. */
export function isListState(state: string): boolean {
  return state === 'wait' || state === 'waiting' || state === 'active';
}
