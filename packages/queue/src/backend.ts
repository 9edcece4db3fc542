import { reasonOf } from '@parley/core';
import { withBackend } from 'bullmq';
import type {
  BackendOptions,
  QueueBackend,
  WakeUp,
  WakeUpConsumer,
  WakeUpJobs,
} from './queue-backend.ts';
import { createUnknownUrlError, QueueError, type RedisLocation } from './redis-location.ts';

/**
 * Selects the backend by URL: `memory:` (one process) or `redis://…` (any number of processes).
 * Only the module of the selected backend is imported. Throws QueueError for any other scheme.
 */
export async function openBackend(
  place: RedisLocation,
  options: BackendOptions,
): Promise<QueueBackend> {
  if (place.url === 'memory:') return openMemoryBackend(options);
  if (!/^rediss?:\/\//.test(place.url)) throw createUnknownUrlError(place.url);
  const { openRedisBackend } = await import('./redis-backend.ts');
  return openRedisBackend(place, options);
}

/**
 * The queue ends with its only worker, so no job can outlive that worker. Locks therefore need no
 * renewal, and there are no stalled jobs to check for. If a turn is stuck, `rewake` lets another
 * run do its work, because the lock lasts longer than any turn.
 */
const ONLY_WORKER = { skipLockRenewal: true, skipStalledCheck: true, lockDuration: 2 ** 40 };

/**
 * A single process does not need a queue file: work is stored in the tables, where the first sweep
 * after a restart finds it. Writing wake-ups to disk would cost a quarter of the throughput.
 */
async function openMemoryBackend({ log, telemetry }: BackendOptions): Promise<QueueBackend> {
  const { openSqliteQueues } = await import('bullmq-sqlite');
  // Parley does not use BullMQ's events.
  const queues = openSqliteQueues({ file: ':memory:', events: false });
  const { Queue, Worker } = withBackend(queues.backend);
  const options = { connection: {}, ...(telemetry && { telemetry }) };
  return {
    newQueue: (name): WakeUpJobs => new Queue<WakeUp>(name, options),
    newWorker: (name, process, tuning): WakeUpConsumer =>
      new Worker<WakeUp>(name, process, { ...tuning, ...ONLY_WORKER, ...options }),
    // A single process does not need to share the number.
    remember: async (_name, number) => number,
    failed(error, message, facts) {
      const reason = reasonOf(error);
      log.warn({ ...facts, reason }, message);
      return new QueueError({
        code: 'queue-failed',
        message: reason,
        retryable: true,
        cause: error,
      });
    },
    // Memory can always be written.
    check: async () => {},
    close: () => queues.close(),
  };
}
