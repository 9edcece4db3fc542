import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  type BackendFactory,
  createRedisBackend,
  type IQueueBackend,
  type JobsOptions,
  type WorkerOptions,
  withBackend,
} from 'bullmq';
import { QueueError } from './queue-error.ts';

/** The body of a wake-up: what has work, and nothing else. */
export interface WakeUp {
  readonly key: string;
}

/** A wake-up is harmless to repeat, so it may stall often before BullMQ gives it up. */
export const MAX_STALLED = 20;

/** What Parley uses of a BullMQ worker's settings; the backend adds its connection. */
export type WorkerTuning = Omit<WorkerOptions<unknown>, 'connection'>;

/** What Parley uses of a BullMQ queue. */
export interface WakeUpJobs {
  add(name: string, data: WakeUp, options: JobsOptions): Promise<unknown>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  close(): Promise<void>;
}

/** What Parley uses of a BullMQ worker. */
export interface WakeUpConsumer {
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(
    event: 'failed',
    listener: (job: { readonly data: WakeUp } | undefined, error: Error) => void,
  ): unknown;
  on(event: 'lockRenewalFailed', listener: (jobIds: string[]) => void): unknown;
  waitUntilReady(): Promise<unknown>;
  cancelJob(id: string, reason: string): boolean;
  cancelAllJobs(reason: string): void;
  close(): Promise<void>;
}

/** One run of a job; `moveToDelayed` hands it back until later. */
export type WakeUpProcess = (
  job: { readonly data: WakeUp; moveToDelayed(at: number, token?: string): Promise<void> },
  token?: string,
  signal?: AbortSignal,
) => Promise<void>;

/** BullMQ bound to one data store. */
export interface QueueBackend {
  newQueue(name: string): WakeUpJobs;
  newWorker(name: string, process: WakeUpProcess, tuning: WorkerTuning): WakeUpConsumer;
  /** Jobs a dead process left active go back to wait; only when no other process can be alive. */
  releaseOrphans(): void;
  close(): void;
}

/**
 * Picks the backend by URL: `sqlite:/path/queue.db` (embedded) or `redis://…`.
 * Only the chosen one is imported. Throws QueueError for any other scheme.
 */
export async function openBackend(url: string): Promise<QueueBackend> {
  if (url.startsWith('sqlite:')) return openSqlite(url.slice('sqlite:'.length));
  if (/^rediss?:\/\//.test(url)) return openRedis(url);
  throw new QueueError({
    code: 'queue-url',
    message: `The queue address "${url}" is not known. Use sqlite:/path/to/queue.db or redis://host:port.`,
    retryable: false,
  });
}

async function openSqlite(file: string): Promise<QueueBackend> {
  const { openSqliteQueues, SqliteQueueError } = await import('bullmq-sqlite');
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const open = () => {
    try {
      return openSqliteQueues({ file });
    } catch (error) {
      if (!(error instanceof SqliteQueueError) || error.retryable || !existsSync(file)) throw error;
      // Wake-ups are all it holds, and the sweep finds their work again: a fresh file loses nothing.
      setAside(file);
      return openSqliteQueues({ file });
    }
  };
  const queues = open();
  return {
    ...bind(queues.backend, {}),
    releaseOrphans: () => queues.releaseOrphans({ maxStalledCount: MAX_STALLED }),
    close: () => queues.close(),
  };
}

/** Keeps a file that cannot be read, under another name, for whoever wants to know why. */
function setAside(file: string): void {
  renameSync(file, `${file}.damaged`);
  for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
}

function openRedis(url: string): QueueBackend {
  return {
    ...bind(createRedisBackend, { url }),
    // Other processes may be alive and own what is active: their locks expire by themselves.
    releaseOrphans() {},
    close() {},
  };
}

function bind<C>(factory: BackendFactory<IQueueBackend, C>, connection: C) {
  const { Queue, Worker } = withBackend(factory);
  return {
    newQueue: (name: string): WakeUpJobs => new Queue<WakeUp>(name, { connection }),
    newWorker: (name: string, process: WakeUpProcess, tuning: WorkerTuning): WakeUpConsumer =>
      new Worker<WakeUp>(name, process, { ...tuning, connection }),
  };
}
