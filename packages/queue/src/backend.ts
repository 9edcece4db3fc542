import { reasonOf } from '@parley/core';
import { withBackend } from 'bullmq';
import type {
  BackendOptions,
  QueueBackend,
  WakeUp,
  WakeUpConsumer,
  WakeUpJobs,
} from './queue-backend.ts';
import { QueueError, type RedisLocation, unknownUrl } from './redis-location.ts';

/**
 * Picks the backend by URL: `memory:` (one process) or `redis://…` (any number of them).
 * Only the chosen one is imported. Throws QueueError for any other scheme.
 */
export async function openBackend(
  place: RedisLocation,
  options: BackendOptions,
): Promise<QueueBackend> {
  if (place.url === 'memory:') return openMemory(options);
  if (!/^rediss?:\/\//.test(place.url)) throw unknownUrl(place.url);
  const { openRedisBackend } = await import('./redis-backend.ts');
  return openRedisBackend(place, options);
}

/**
 * A worker whose queue dies with it can leave no job behind, so no process renews locks or looks for stalled
 * jobs; work that a stuck turn holds is given to another run by `rewake`. A lock outlives any turn.
 */
const ONLY_WORKER = { skipLockRenewal: true, skipStalledCheck: true, lockDuration: 2 ** 40 };

/**
 * Wake-ups of one process need no file: their work is in the tables, where the first
 * sweep of the next start finds it. On disk they cost a quarter of all replies per second.
 */
async function openMemory({ log, telemetry }: BackendOptions): Promise<QueueBackend> {
  const { openSqliteQueues } = await import('bullmq-sqlite');
  // BullMQ's events are not used here.
  const queues = openSqliteQueues({ file: ':memory:', events: false });
  const { Queue, Worker } = withBackend(queues.backend);
  const options = { connection: {}, ...(telemetry && { telemetry }) };
  return {
    newQueue: (name): WakeUpJobs => new Queue<WakeUp>(name, options),
    newWorker: (name, process, tuning): WakeUpConsumer =>
      new Worker<WakeUp>(name, process, { ...tuning, ...ONLY_WORKER, ...options }),
    // It forgets with its process, which knows by itself.
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
    // Memory of this process can always be written.
    check: async () => {},
    close: () => queues.close(),
  };
}
