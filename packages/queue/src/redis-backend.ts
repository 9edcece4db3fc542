import { createRedisBackend, withBackend } from 'bullmq';
import {
  type BackendOptions,
  type QueueBackend,
  tracedQueue,
  type WakeUp,
  type WakeUpConsumer,
  type WakeUpJobs,
} from './backend.ts';
import {
  BLOCK_SECONDS,
  connectRedis,
  NOT_THERE,
  type RedisConnection,
  whenReady,
} from './connect-redis.ts';
import { lookAtRedis } from './look-at-redis.ts';
import { redisOutage } from './redis-outage.ts';
import { queuePrefix, type RedisPlace } from './redis-place.ts';

/** BullMQ would wait up to 10 s in one command where jobs are delayed: too long to notice a silence. */
const createBackend: typeof createRedisBackend = (...options) =>
  Object.defineProperty(createRedisBackend(...options), 'maximumBlockTimeout', {
    value: BLOCK_SECONDS,
  });

/**
 * BullMQ on Redis. All queues of a process share one connection for wake-ups, which fails at once
 * while Redis is away, and all workers one that waits for it; each worker has one more of its own, on
 * which it waits for jobs. Resolves without Redis, too: it is tried until it is there.
 */
export async function openRedisBackend(
  place: RedisPlace,
  { log, telemetry }: BackendOptions,
): Promise<QueueBackend> {
  const { Queue, Worker } = withBackend(createBackend);
  const outage = redisOutage('queue', place, log);
  const open: RedisConnection[] = [];
  const connect = (use: 'ask' | 'work'): RedisConnection => {
    const connection = connectRedis(place, use);
    outage.watch(connection);
    open.push(connection);
    return connection;
  };
  const asking = connect('ask');
  let working: RedisConnection | null = null;
  if (await whenReady(asking)) await lookAtRedis(asking, log);
  else outage.note(NOT_THERE);
  return {
    newQueue(name): WakeUpJobs {
      // The version is looked at above, once; a queue that asked would wait for Redis to be there.
      const direct = { skipWaitingForReady: true, skipVersionCheck: true };
      const prefix = queuePrefix(place, name);
      const traced = tracedQueue(name, telemetry);
      return new Queue<WakeUp>(name, { connection: asking, prefix, ...direct, ...traced });
    },
    newWorker(name, process, tuning): WakeUpConsumer {
      working ??= connect('work');
      const prefix = queuePrefix(place, name);
      const traced = tracedQueue(name, telemetry);
      const options = {
        ...tuning,
        drainDelay: BLOCK_SECONDS,
        connection: working,
        prefix,
        ...traced,
      };
      return new Worker<WakeUp>(name, process, options);
    },
    failed: (error, message, facts) => outage.note(error, message, facts),
    close() {
      for (const connection of open) connection.disconnect();
    },
  };
}
