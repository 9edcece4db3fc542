export {
  JobStateError,
  QueueFileClosedError,
  SqliteQueueError,
  type SqliteQueueErrorCode,
} from './errors.ts';
export {
  openSqliteQueues,
  type ReleasedJob,
  type SqliteQueues,
  type SqliteQueuesOptions,
} from './open-sqlite-queues.ts';
export type { Synchronous } from './queue-file.ts';
