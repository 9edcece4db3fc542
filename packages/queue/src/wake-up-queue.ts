import { setTimeout as sleep } from 'node:timers/promises';
import { type Runtime, reasonOf, systemTime } from '@parley/core';
import { DelayedError } from 'bullmq';
import { openBackend } from './backend.ts';
import { retryPause, type WakeUpHandler } from './keyed-work.ts';
import { MAX_PUT_OFF_MS, watchDelayedJobs } from './overdue-jobs.ts';
import type { BackendOptions, QueueBackend } from './queue-backend.ts';
import type { RedisLocation } from './redis-location.ts';

/** A running consumer of wake-ups. */
export interface WakeUpWorker {
  /** Takes no new keys until `resume`; what runs goes on. One that was on its way may still come. */
  pause(): void;
  resume(): void;
  /** Takes no new keys, waits up to `graceMs` for running ones, then aborts them. */
  close(graceMs: number): Promise<void>;
}

/** Wake-ups that wait for a worker, that one works on, and that are put off. */
export type QueueDepth = Readonly<Record<'waiting' | 'active' | 'delayed', number>>;

/**
 * Says "key X has work" to some worker, at most once at a time per key. A wake-up carries no data:
 * the work is in the tables, so a lost or doubled one does no harm.
 */
export interface WakeUpQueue {
  /** Never throws: a wake-up that could not be stored is logged and made up for by the sweep. */
  wake(key: string): Promise<void>;
  /**
   * `wake` for a sweep, which knows that no living worker has this key: work on it that seems to go on
   * is that of a stuck worker, and does not count as its wake-up. Never throws.
   */
  rewake(key: string): Promise<Rewoken>;
  /** Ready once the worker is waiting for jobs. */
  work(handler: WakeUpHandler, concurrency: number): Promise<WakeUpWorker>;
  /** The number of wake-ups, by state; rejects when the queue does not answer. */
  depth(): Promise<QueueDepth>;
  /** Rejects when the queue does not answer, or takes no wake-ups: full, or a replica that only reads. */
  check(): Promise<void>;
  /** Keeps the highest number that any process has named under this name, and returns it; rejects as `depth`. */
  remember(name: string, number: number): Promise<number>;
  close(): Promise<void>;
}

/**
 * The result of a sweep's look at the wake-up of a key: stored now; there already, `waiting` for a worker or
 * `delayed` for a few seconds; or `refused`, because the queue does not take it.
 */
export type Rewoken = 'stored' | 'waiting' | 'delayed' | 'refused';

/** Wake-ups that some worker will get, as a delayed one will in time; any other is being worked on, or a trace of one that is gone. */
const STILL_TO_COME: ReadonlySet<string> = new Set(['waiting', 'prioritized']);

/**
 * A dead worker is noticed within 10 s; renewal is by timer, so long turns never look dead. Work whose
 * lock is lost, as when Redis forgets all, continues: another worker that gets the key finds the lease in
 * the tables, or the key at work in this process.
 * A wake-up is harmless to repeat, so it may stall often before BullMQ gives it up.
 */
const TUNING = {
  lockDuration: 8_000,
  stalledInterval: 2_000,
  maxStalledCount: 20,
  // A command that failed for good is tried again after this, not after 15 s as BullMQ does by itself.
  runRetryDelay: 1_000,
};
const TROUBLE = 'trouble in the queue; the sweep makes up for it';
const RETRY = { attempts: 8, backoff: { type: 'custom' } } as const;

/** The location and options of the queue. */
export interface TurnQueueOptions
  extends RedisLocation,
    BackendOptions,
    Partial<Pick<Runtime, 'monotonic' | 'random'>> {
  /** `memory:` for one process, `redis://…` between processes. */
  readonly url: string;
}

/** The name of the queue: in keys of Redis, metrics and traces. */
export const TURNS = 'turns';

/** Opens the queue of conversations that have work. Throws QueueError for an address that is not known. */
export async function openTurnQueue(options: TurnQueueOptions): Promise<WakeUpQueue> {
  const backend = await openBackend(options, options);
  const { monotonic, random } = { ...systemTime, ...options };
  const isOverdue = watchDelayedJobs(monotonic);
  const queue = backend.newQueue(TURNS);
  queue.on('error', (error) => backend.failed(error, TROUBLE));
  const guarded = async (key: string, store: () => Promise<Rewoken>): Promise<Rewoken> => {
    try {
      return await store();
    } catch (error) {
      backend.failed(error, 'wake-up not stored; the sweep will find the work', { key });
      return 'refused';
    }
  };
  const add = async (key: string): Promise<Rewoken> => {
    // A key that is being worked on gets one follow-up job, so nothing slips in behind the last look.
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
        throw backend.failed(error, 'how much waits in the queue is not known');
      }
    },
    remember: (name, number) => backend.remember(name, number),
    async check() {
      try {
        await backend.check();
      } catch (error) {
        throw backend.failed(error, 'the queue takes no wake-ups; the sweep makes up for it');
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
  const backoffStrategy = (attempt = 1): number => retryPause(attempt, random());
  const worker = backend.newWorker(
    TURNS,
    async (job, token, signal) => {
      const run = handler(job.data.key, signal ?? AbortSignal.any([]));
      running.add(run);
      const again = await run.finally(() => running.delete(run));
      if (again === null) return;
      const pause = Math.min(MAX_PUT_OFF_MS, Math.max(1, again));
      // BullMQ takes its own `Date.now()` off again.
      await job.moveToDelayed(systemTime.clock() + pause, token);
      throw new DelayedError();
    },
    { ...TUNING, settings: { backoffStrategy }, concurrency },
  );
  worker.on('error', (error) => backend.failed(error, TROUBLE));
  worker.on('failed', (job, error) =>
    log.warn(
      { queue: TURNS, key: job?.data.key, reason: reasonOf(error) },
      'work failed; it will be tried again',
    ),
  );
  await worker.waitUntilReady();
  return {
    pause: () => void worker.pause(true),
    resume: () => void worker.resume(),
    async close(graceMs) {
      const timer = setTimeout(() => worker.cancelAllJobs('shutting down'), graceMs);
      try {
        await Promise.race([worker.close(), givenUp(running)]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** The longest wait for a queue to accept that the work is done. In ms. */
const TELL_MS = 1_000;

/**
 * When the work is done and the queue should know it: without Redis BullMQ would wait for Redis to come
 * back. Without the report the key is assigned again, which does no harm.
 */
async function givenUp(running: ReadonlySet<Promise<unknown>>): Promise<void> {
  while (running.size > 0) await Promise.allSettled(running);
  await sleep(TELL_MS, undefined, { ref: false });
}
