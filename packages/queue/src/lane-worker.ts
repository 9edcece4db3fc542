import type { LiveBus } from '@parley/contracts';
import { keepLeases } from './keep-leases.ts';
import { type LaneDeps, runLane } from './lane.ts';
import type { StopReason } from './stop-reason.ts';
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
/** When to ask again for a lane that an earlier run of this very process has not left yet. */
const STILL_HERE_MS = 500;

/** Starts working: answers wake-ups, obeys `/stop`, and sweeps for lanes whose wake-up was lost. */
export async function startLaneWorker(
  deps: LaneDeps,
  options: LaneWorkerOptions,
): Promise<LaneWorker> {
  const lanes: LaneDeps = { keepLease: keepLeases(deps), ...deps };
  const running = new Map<string, AbortController>();
  const end = (stop: AbortController | undefined, reason: StopReason): void => stop?.abort(reason);
  const unsubscribe = options.bus.subscribe((event) => {
    if (event.type === 'stop-turn') end(running.get(event.conversationId), 'stopped');
  });
  const worker = await options.queue.work(async (conversationId, signal) => {
    // A wake-up that looked dead is handed out again; its first run must leave the lane before.
    if (running.has(conversationId)) return STILL_HERE_MS;
    const stop = new AbortController();
    const handBack = (): void => end(stop, 'handed-back');
    signal.addEventListener('abort', handBack, { once: true });
    running.set(conversationId, stop);
    try {
      return await runLane(lanes, conversationId, stop);
    } finally {
      running.delete(conversationId);
      signal.removeEventListener('abort', handBack);
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
