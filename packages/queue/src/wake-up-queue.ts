import { setTimeout as sleep } from 'node:timers/promises';
import { type Runtime, reasonOf, systemTime } from '@parley/core';
import { DelayedError } from 'bullmq';
import { openBackend } from './backend.ts';
import { computeWakeUpRetryDelay, type WakeUpHandler } from './keyed-work.ts';
import { MAX_PUT_OFF_MS, watchDelayedJobs } from './overdue-jobs.ts';
import type { BackendOptions, QueueBackend } from './queue-backend.ts';
import type { RedisLocation } from './redis-location.ts';

/** A running consumer of wake-ups. */
export interface WakeUpWorker {
  /**
   * Stops taking new keys until `resume`; running work continues. A key that is already being
   * fetched may still be delivered.
   */
  pause(): void;
  resume(): void;
  /** Stops taking new keys, waits up to `graceMs` for running work, then aborts it. */
  close(graceMs: number): Promise<void>;
}

/** The number of wake-ups that are waiting, being processed, or delayed. */
export type QueueDepth = Readonly<Record<'waiting' | 'active' | 'delayed', number>>;

/**
 * Notifies some worker that a key has work, with at most one run per key at a time. A wake-up does
 * not carry data, because work is stored in the tables. Losing or repeating a wake-up is therefore
 * harmless.
 */
export interface WakeUpQueue {
  /**
   * Adds a wake-up; never throws, because the sweep finds the work if the wake-up cannot be stored.
   */
  wake(key: string): Promise<void>;
  /**
   * Adds a wake-up for a sweep, which has found that no live worker has this key. If the key has an
   * active job, the job must therefore belong to a stuck worker, so it does not suppress the
   * wake-up. Never throws.
   */
  rewake(key: string): Promise<RewakeResult>;
  /** Starts a worker; resolves once it is waiting for jobs. */
  work(handler: WakeUpHandler, concurrency: number): Promise<WakeUpWorker>;
  /** Counts wake-ups by state; rejects if the queue does not answer. */
  depth(): Promise<QueueDepth>;
  /**
   * Rejects if the queue does not answer or does not accept wake-ups, for example because it is
   * full or a read-only replica.
   */
  check(): Promise<void>;
  /**
   * Stores the highest number that any process has passed under this name, and returns it; rejects
   * if the queue does not answer.
   */
  remember(name: string, number: number): Promise<number>;
  close(): Promise<void>;
}

/**
 * The result of `rewake`: the wake-up was `stored`, it already existed (`waiting` for a worker, or
 * `delayed` for a few seconds), or the queue `refused` it.
 */
export type RewakeResult = 'stored' | 'waiting' | 'delayed' | 'refused';

/**
 * The states of a wake-up that some worker will still receive. Delayed wake-ups are checked
 * separately. In any other state, the job is being processed or was left behind by a crashed
 * worker.
 */
const STILL_TO_COME: ReadonlySet<string> = new Set(['waiting', 'prioritized']);

/**
 * A crashed worker is detected within 10 s. Locks are renewed by timer, so workers with long turns
 * are never considered dead. If a lock is lost, for example because Redis lost its data, the work
 * continues. Another worker that gets the key finds the lease in the tables, or finds that its own
 * process is already running the key. Repeating a wake-up is harmless, so a job may stall many
 * times before BullMQ abandons it.
 */
const TUNING = {
  lockDuration: 8_000,
  stalledInterval: 2_000,
  maxStalledCount: 20,
  // The delay before a failed fetch is retried, instead of BullMQ's 15 s.
  runRetryDelay: 1_000,
};
const TROUBLE = 'queue error; the sweep will find missed work';
const RETRY = { attempts: 8, backoff: { type: 'custom' } } as const;

export interface TurnQueueOptions
  extends RedisLocation,
    BackendOptions,
    Partial<Pick<Runtime, 'monotonic' | 'random'>> {
  /** The address: `memory:` for one process, `redis://…` between processes. */
  readonly url: string;
}

/** The queue's name in Redis keys, metrics and traces. */
export const TURNS = 'turns';

/**
 * Opens the queue of conversations that have work to do. Throws QueueError for an unsupported URL.
 */
export async function openTurnQueue(options: TurnQueueOptions): Promise<WakeUpQueue> {
  const backend = await openBackend(options, options);
  const { monotonic, random } = { ...systemTime, ...options };
  const isOverdue = watchDelayedJobs(monotonic);
  const queue = backend.newQueue(TURNS);
  queue.on('error', (error) => backend.failed(error, TROUBLE));
  const guarded = async (
    key: string,
    store: () => Promise<RewakeResult>,
  ): Promise<RewakeResult> => {
    try {
      return await store();
    } catch (error) {
      backend.failed(error, 'wake-up not stored; the sweep will find the work', { key });
      return 'refused';
    }
  };
  const add = async (key: string): Promise<RewakeResult> => {
    // A key that is being processed gets one follow-up job, so a message that arrives after the
    // last check is not missed.
    const deduplication = { id: key, keepLastIfActive: true };
    const ends = { removeOnComplete: true, removeOnFail: true };
    await queue.add('wake', { key }, { deduplication, ...ends, ...RETRY });
    return 'stored';
  };
  return {
    async wake(key) {
      await guarded(key, () => add(key));
    },
    rewake: (key) =>
      guarded(key, async () => {
        const jobId = await queue.getDeduplicationJobId(key);
        if (jobId !== null) {
          const state = await queue.getJobState(jobId);
          if (STILL_TO_COME.has(state)) return 'waiting';
          if (state === 'delayed') {
            const job = await queue.getJob(jobId);
            const isLate = job && isOverdue(key, { jobId, attemptsStarted: job.attemptsStarted });
            if (!isLate) return 'delayed';
            await job.promote();
            return 'waiting';
          }
          await queue.removeDeduplicationKey(key);
        }
        return add(key);
      }),
    async depth() {
      try {
        const counts = await queue.getJobCounts('waiting', 'active', 'delayed');
        const { waiting = 0, active = 0, delayed = 0 } = counts;
        return { waiting, active, delayed };
      } catch (error) {
        throw backend.failed(error, 'the queue depth is unknown');
      }
    },
    remember: (name, number) => backend.remember(name, number),
    async check() {
      try {
        await backend.check();
      } catch (error) {
        throw backend.failed(
          error,
          'the queue does not accept wake-ups; the sweep will find the work',
        );
      }
    },
    work: (handler, concurrency) =>
      startWorker({ backend, log: options.log, random }, handler, concurrency),
    async close() {
      await queue.close();
      backend.close();
    },
  };
}

async function startWorker(
  { backend, log, random }: Pick<Runtime, 'log' | 'random'> & { readonly backend: QueueBackend },
  handler: WakeUpHandler,
  concurrency: number,
): Promise<WakeUpWorker> {
  const running = new Set<Promise<unknown>>();
  const backoffStrategy = (attempt = 1): number => computeWakeUpRetryDelay(attempt, random());
  const worker = backend.newWorker(
    TURNS,
    async (job, token, signal) => {
      const run = handler(job.data.key, signal ?? AbortSignal.any([]));
      running.add(run);
      const again = await run.finally(() => running.delete(run));
      if (again === null) return;
      const pause = Math.min(MAX_PUT_OFF_MS, Math.max(1, again));
      // A timestamp is passed, because BullMQ subtracts its own `Date.now()` from it.
      await job.moveToDelayed(systemTime.clock() + pause, token);
      throw new DelayedError();
    },
    { ...TUNING, settings: { backoffStrategy }, concurrency },
  );
  worker.on('error', (error) => backend.failed(error, TROUBLE));
  worker.on('failed', (job, error) =>
    log.warn(
      { queue: TURNS, key: job?.data.key, reason: reasonOf(error) },
      'work failed; will retry',
    ),
  );
  await worker.waitUntilReady();
  return {
    pause: () => void worker.pause(true),
    resume: () => void worker.resume(),
    async close(graceMs) {
      const timer = setTimeout(() => worker.cancelAllJobs('shutting down'), graceMs);
      try {
        await Promise.race([worker.close(), waitForCompletion(running)]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** How long to wait for the queue to record that the work is done, in ms. */
const TELL_MS = 1_000;

/**
 * Resolves shortly after the work is done, so that closing does not wait for Redis, as BullMQ
 * would. If a completion was not recorded, the key is delivered again, which is harmless.
 */
async function waitForCompletion(running: ReadonlySet<Promise<unknown>>): Promise<void> {
  while (running.size > 0) await Promise.allSettled(running);
  await sleep(TELL_MS, undefined, { ref: false });
}
