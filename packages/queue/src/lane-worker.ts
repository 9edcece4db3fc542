import type { LiveBus } from '@parley/contracts';
import { type LaneDeps, runLane } from './lane.ts';
import { startSweep } from './sweep.ts';
import type { WakeUpQueue } from './wake-up-queue.ts';

/** A worker of lanes: many conversations in parallel, one turn at a time in each. */
export interface LaneWorker {
  /** Takes no new conversations, waits up to `graceMs` for running turns, then hands them back. */
  close(graceMs: number): Promise<void>;
}

/** What the worker needs besides the lane itself. */
export interface LaneWorkerOptions {
  readonly queue: WakeUpQueue;
  readonly bus: LiveBus;
  /** Conversations worked on at the same time by this process. */
  readonly concurrency: number;
  readonly sweepMs: number;
}

const SWEEP_BATCH = 500;

/** Starts working: answers wake-ups, obeys `/stop`, and sweeps for lanes whose wake-up was lost. */
export async function startLaneWorker(
  deps: LaneDeps,
  options: LaneWorkerOptions,
): Promise<LaneWorker> {
  const running = new Map<string, AbortController>();
  const unsubscribe = options.bus.subscribe((event) => {
    if (event.type === 'stop-turn') running.get(event.conversationId)?.abort('stopped');
  });
  const worker = await options.queue.work(async (conversationId, signal) => {
    const stop = new AbortController();
    const shutDown = (): void => stop.abort('shutdown');
    signal.addEventListener('abort', shutDown, { once: true });
    running.set(conversationId, stop);
    try {
      return await runLane(deps, conversationId, stop);
    } finally {
      running.delete(conversationId);
      signal.removeEventListener('abort', shutDown);
    }
  }, options.concurrency);
  const sweep = startSweep('lanes', options.sweepMs, deps.log, async () => {
    for (const id of await deps.lanes.withWork(deps.clock(), SWEEP_BATCH))
      await options.queue.kick(id);
  });
  return {
    async close(graceMs) {
      await sweep.stop();
      await worker.close(graceMs);
      unsubscribe();
    },
  };
}
