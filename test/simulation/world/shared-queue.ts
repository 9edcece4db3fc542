import { reasonOf } from '@parley/core';
import { withBackend } from 'bullmq';
import { openSqliteQueues } from 'bullmq-sqlite';
import type {
  BackendOptions,
  QueueBackend,
  WakeUp,
  WakeUpConsumer,
  WakeUpJobs,
} from '../../../packages/queue/src/queue-backend.ts';
import { QueueError, type RedisLocation } from '../../../packages/queue/src/redis-location.ts';
import { getSharedServers } from './servers-now.ts';

/**
 * The interval in ms at which a process polls for jobs of other processes; a shorter interval would
 * dominate all events.
 */
const POLL_MS = 100;

/** BullMQ over one file for all simulated processes, with the faults of Redis. */
export async function openRedisBackend(
  _place: RedisLocation,
  { log, telemetry }: BackendOptions,
): Promise<QueueBackend> {
  const { queue: file } = getSharedServers();
  const queues = openSqliteQueues({ file, events: false, pollOtherProcessesMs: POLL_MS });
  const { Queue, Worker } = withBackend(queues.backend);
  const options = { connection: {}, ...(telemetry && { telemetry }) };
  const failed: QueueBackend['failed'] = (error, message, facts) => {
    const reason = reasonOf(error);
    log.warn({ ...facts, reason }, message);
    return new QueueError({ code: 'queue-failed', message: reason, retryable: true, cause: error });
  };
  return {
    newQueue: (name): WakeUpJobs => addFaults(new Queue<WakeUp>(name, options)),
    newWorker: (name, process, tuning): WakeUpConsumer =>
      new Worker<WakeUp>(name, process, { ...tuning, ...options }),
    async remember(name, number) {
      const { marks, isQueueAway } = getSharedServers();
      if (isQueueAway()) throw new Error('the simulated Redis is unreachable');
      const highest = Math.max(number, marks.get(name) ?? number);
      marks.set(name, highest);
      return highest;
    },
    failed,
    async check() {
      if (getSharedServers().isQueueAway()) throw new Error('the simulated Redis is unreachable');
    },
    close: () => queues.close(),
  };
}

function addFaults(queue: WakeUpJobs): WakeUpJobs {
  const add = queue.add.bind(queue);
  const lost = { id: 'lost' } as Awaited<ReturnType<WakeUpJobs['add']>>;
  queue.add = async (...given) => {
    const fate = getSharedServers().wakeUp();
    if (fate === 'away') throw new Error('the simulated Redis is unreachable');
    if (fate === 'lost') return lost;
    if (fate === 'doubled') await add(...given);
    return add(...given);
  };
  return queue;
}
