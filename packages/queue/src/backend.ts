import { type Logger, reasonOf } from '@parley/core';
import {
  type IQueueBackend,
  type Processor,
  type Queue,
  type Telemetry,
  type Worker,
  type WorkerOptions,
  withBackend,
} from 'bullmq';
import { QueueError, type RedisPlace, unknownUrl } from './open-bus.ts';

/** The body of a wake-up: what has work, and nothing else. */
export interface WakeUp {
  readonly key: string;
}

/** What Parley uses of a BullMQ worker's settings; the backend adds its connection. */
export type WorkerTuning = Omit<WorkerOptions<unknown>, 'connection'>;

/** A queue of BullMQ. */
export type WakeUpJobs = Pick<
  Queue<WakeUp, unknown, string, WakeUp, unknown, string, IQueueBackend>,
  | 'add'
  | 'on'
  | 'getDeduplicationJobId'
  | 'getJobState'
  | 'getJob'
  | 'removeDeduplicationKey'
  | 'getJobCounts'
  | 'close'
>;

/** A worker of BullMQ. */
export type WakeUpConsumer = Pick<
  Worker<WakeUp, unknown, string, IQueueBackend>,
  'on' | 'waitUntilReady' | 'pause' | 'resume' | 'cancelAllJobs' | 'close'
>;

/** Runs a job. */
export type WakeUpProcess = Processor<WakeUp>;

/** BullMQ bound to one data store. */
export interface QueueBackend {
  newQueue(name: string): WakeUpJobs;
  newWorker(name: string, process: WakeUpProcess, tuning: WorkerTuning): WakeUpConsumer;
  /** Keeps the highest number that any process has named under this name, and returns it. */
  remember(name: string, number: number): Promise<number>;
  /** Logs what went wrong in a queue or with its connection, and its consequence; returns the error. */
  failed(error: unknown, message: string, facts?: { readonly key: string }): QueueError;
  /** Writes something small; rejects when that is not possible. */
  check(): Promise<void>;
  close(): void;
}

/** The log, and traces for OpenTelemetry where they are on. */
export interface BackendOptions {
  readonly log: Logger;
  readonly telemetry?: Telemetry | undefined;
}

/**
 * Picks the backend by URL: `memory:` (one process) or `redis://…` (any number of them).
 * Only the chosen one is imported. Throws QueueError for any other scheme.
 */
export async function openBackend(
  place: RedisPlace,
  options: BackendOptions,
): Promise<QueueBackend> {
  if (place.url === 'memory:') return openMemory(options);
  if (!/^rediss?:\/\//.test(place.url)) throw unknownUrl(place.url);
  const { openRedisBackend } = await import('./redis-backend.ts');
  return openRedisBackend(place, options);
}

/**
 * A worker whose queue dies with it can leave no job behind, so no process renews locks or looks for stalled
 * jobs; work that a stuck turn holds is given to another run by `rekick`. A lock outlives any turn.
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
