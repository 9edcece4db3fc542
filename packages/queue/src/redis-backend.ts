import { createRedisBackend, withBackend } from 'bullmq';
import {
  BLOCK_SECONDS,
  checkRedis,
  connectRedis,
  createRedisOutage,
  REDIS_UNREACHABLE,
  type RedisConnection,
  waitUntilReady,
} from './connect-redis.ts';
import type {
  BackendOptions,
  QueueBackend,
  WakeUp,
  WakeUpConsumer,
  WakeUpJobs,
} from './queue-backend.ts';
import { getQueuePrefix, type RedisLocation } from './redis-location.ts';

/**
 * Changes three behaviors of BullMQ. If there are delayed jobs, BullMQ blocks for up to 10 s in one
 * command, which is too long to detect a silent connection. Whenever a job completes, BullMQ
 * fetches another one, although the worker also does so whenever it is not waiting for a job.
 * BullMQ also fetches right after the job that ended a wait, although that job usually came alone.
 * Handing out a job sets the marker that immediately ends the next wait, so the fetch after that
 * wait is enough.
 */
const createBackend: typeof createRedisBackend = (...options) => {
  const backend = createRedisBackend(...options);
  const moveToCompleted = backend.moveToCompleted.bind(backend);
  backend.moveToCompleted = (job, value, keep, token) =>
    moveToCompleted(job, value, keep, token, false);
  const moveToActive = backend.moveToActive.bind(backend);
  let wasEmpty = false;
  let endedWait = false;
  backend.moveToActive = async (token, name) => {
    if (endedWait) {
      endedWait = false;
      return NO_JOB;
    }
    const found = await moveToActive(token, name);
    const isJob = Boolean(found[0]);
    endedWait = isJob && wasEmpty;
    wasEmpty = !isJob;
    return found;
  };
  return Object.defineProperty(backend, 'maximumBlockTimeout', { value: BLOCK_SECONDS });
};

const CHECK_LIVES_SECONDS = 60;

/** BullMQ's result when no job is waiting or delayed. */
const NO_JOB = [null, 0, 0, 0];

/**
 * Opens BullMQ on Redis. The queue sends wake-ups over a connection that fails immediately while
 * Redis is unreachable. Each worker has a connection that waits for Redis, and BullMQ opens another
 * one for its blocking commands. Also resolves while Redis is unreachable; the connections keep
 * trying.
 */
export async function openRedisBackend(
  place: RedisLocation,
  { log, telemetry }: BackendOptions,
): Promise<QueueBackend> {
  const { Queue, Worker } = withBackend(createBackend);
  const outage = createRedisOutage('queue', place, log);
  const open: RedisConnection[] = [];
  const connect = (use: 'ask' | 'work'): RedisConnection => {
    const connection = connectRedis(place, use);
    outage.watch(connection);
    open.push(connection);
    return connection;
  };
  const asking = connect('ask');
  if (await waitUntilReady(asking)) await checkRedis(asking, log);
  else outage.note(REDIS_UNREACHABLE);
  const shared = (name: string) => ({
    prefix: getQueuePrefix(place, name),
    ...(telemetry && { telemetry }),
  });
  return {
    newQueue(name): WakeUpJobs {
      // `checkRedis` has already checked the version, and a check by the queue would wait for
      // Redis.
      const direct = { skipWaitingForReady: true, skipVersionCheck: true };
      return new Queue<WakeUp>(name, { connection: asking, ...direct, ...shared(name) });
    },
    newWorker(name, process, tuning): WakeUpConsumer {
      return new Worker<WakeUp>(name, process, {
        ...tuning,
        drainDelay: BLOCK_SECONDS,
        connection: connect('work'),
        ...shared(name),
      });
    },
    async remember(name, number) {
      const key = `${getQueuePrefix(place, 'marks')}:marks`;
      await asking.zadd(key, 'GT', number, name);
      return Number((await asking.zscore(key, name)) ?? number);
    },
    failed: (error, message, facts) => outage.note(error, message, facts),
    async check() {
      await asking.set(`${getQueuePrefix(place, 'check')}:written`, '1', 'EX', CHECK_LIVES_SECONDS);
    },
    close() {
      for (const connection of open) connection.disconnect();
    },
  };
}
