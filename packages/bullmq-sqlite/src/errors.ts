import { ConnectionClosedError, ErrorCode } from 'bullmq';

/** Error codes of this package, which are stable names for programs. */
export type SqliteQueueErrorCode =
  | 'queue-file-unusable'
  | 'queue-file-layout'
  | 'queue-file-busy'
  | 'queue-file-shared'
  | 'queue-disk-full'
  | 'queue-disk-failed'
  | 'queue-not-paused'
  | 'queue-has-active-jobs'
  | 'not-supported';

/** An error raised by this package; `retryable` is true if the same call may succeed later. */
export class SqliteQueueError extends Error {
  readonly code: SqliteQueueErrorCode;
  readonly retryable: boolean;

  constructor(
    code: SqliteQueueErrorCode,
    message: string,
    options: { readonly retryable?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'SqliteQueueError';
    this.code = code;
    this.retryable = options.retryable ?? false;
  }
}

/**
 * Rejects every operation after `close()`. The class extends BullMQ's error for closed connections,
 * because workers wait and retry on that class instead of reporting the error in a tight loop.
 */
export class QueueFileClosedError extends ConnectionClosedError {
  readonly code = 'queue-file-closed';
  readonly retryable = false;

  constructor(file: string) {
    super(`The queue file ${file} is closed. Close queues and workers before their file.`);
    this.name = 'QueueFileClosedError';
  }
}

/** Creates the error for a BullMQ feature that this backend does not support. */
export function createNotSupportedError(feature: string): SqliteQueueError {
  return new SqliteQueueError(
    'not-supported',
    `bullmq-sqlite does not support ${feature}. Use the Redis or PostgreSQL backend instead.`,
  );
}

/**
 * The error for an operation on a job in an unsuitable state; `code` is BullMQ's numeric
 * `ErrorCode`.
 */
export class JobStateError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.name = 'JobStateError';
    this.code = code;
  }
}

/** The messages are the same as in BullMQ's other backends, because applications match on them. */
const jobStateTexts = {
  [ErrorCode.JobNotExist]: (job: string, command: string) =>
    `Missing key for job ${job}. ${command}`,
  [ErrorCode.JobLockNotExist]: (job: string, command: string) =>
    `Missing lock for job ${job}. ${command}`,
  [ErrorCode.JobNotInState]: (job: string, command: string, state: string) =>
    `Job ${job} is not in the ${state} state. ${command}`,
  [ErrorCode.JobLockMismatch]: (job: string, command: string, state: string) =>
    `Lock mismatch for job ${job}. Cmd ${command} from ${state}`,
  [ErrorCode.JobBelongsToJobScheduler]: (job: string, command: string) =>
    `Job ${job} belongs to a job scheduler and cannot be removed directly. ${command}`,
  [ErrorCode.SchedulerJobIdCollision]: (_job: string, command: string) =>
    `Cannot create job scheduler iteration - job ID already exists. ${command}`,
  [ErrorCode.SchedulerJobSlotsBusy]: (_job: string, command: string) =>
    `Cannot create job scheduler iteration - current and next time slots already have jobs. ${command}`,
} as const;

/** Builds the error that BullMQ's classes expect; `state` is the state that the job must be in. */
export function createJobStateError(
  code: keyof typeof jobStateTexts,
  jobId: string,
  command: string,
  state = 'active',
): JobStateError {
  return new JobStateError(code, jobStateTexts[code](jobId, command, state));
}
