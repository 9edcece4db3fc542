import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LiveBus, reasonOf } from '@parley/core';
import { LEASE_MS, startLeaseRenewal } from './keep-leases.ts';
import { startKeyedWork, startSweep, type WakeUpHandler } from './keyed-work.ts';
import {
  getStopReason,
  isDatabaseUnreachable,
  type LaneDeps,
  runLane,
  type StopReason,
} from './lane.ts';
import type { RewakeResult, WakeUpQueue, WakeUpWorker } from './wake-up-queue.ts';

/** A worker that serves many conversations in parallel, each with one turn at a time. */
export interface LaneWorker {
  /** Stops taking conversations, waits up to `graceMs` for running turns, then hands them back. */
  close(graceMs: number): Promise<void>;
}

/** What the worker needs in addition to the dependencies of a lane. */
export interface LaneWorkerOptions {
  readonly queue: WakeUpQueue;
  readonly bus: LiveBus;
  /** The number of conversations this process serves at the same time. */
  readonly concurrency: number;
  readonly sweepMs: number;
}

const SWEEP_BATCH = 500;
/**
 * The delay before retrying a lane on which an earlier run in this process is still working, in ms.
 */
const STILL_HERE_MS = 500;
/** How long a turn may continue after its signal has fired before its lane is released, in ms. */
const LET_GO_MS = 1_000;
/** The poll interval while the database is unreachable, in ms. */
const CUT_OFF_LOOK_MS = 500;

/**
 * Starts a lane worker: it answers wake-ups, obeys `/stop`, and sweeps for lanes whose wake-up was
 * lost. If the queue does not deliver a wake-up, the sweep runs the lane itself, within the same
 * concurrency limit, so no conversation depends on the queue (D13). When a lease is lost, its lane
 * is released even if the turn is still running. While the database is unreachable, the worker does
 * not start on any lane. In both cases, another worker takes over, and the fencing token prevents
 * the abandoned turn from writing.
 */
export async function startLaneWorker(
  deps: LaneDeps,
  options: LaneWorkerOptions,
): Promise<LaneWorker> {
  let isClosing = false;
  const lanes: LaneDeps = {
    keepLease: startLeaseRenewal(deps),
    ...deps,
    isLeaving: () => isClosing,
    onHeldUp: () => options.bus.publish({ type: 'inbox-changed' }),
  };
  const running = new Map<string, AbortController>();
  const cutOff = watchDatabase(deps, () => worker);
  const end = (stop: AbortController | undefined, reason: StopReason): void => stop?.abort(reason);
  const unsubscribe = options.bus.subscribe((event) => {
    if (event.type === 'stop-turn') end(running.get(event.conversationId), 'stopped');
  });
  const run = async (conversationId: string, stop: AbortController): Promise<number | null> => {
    try {
      return await runLane(lanes, conversationId, stop);
    } catch (error) {
      if (isDatabaseUnreachable(error)) cutOff.suspect();
      throw error;
    } finally {
      if (running.get(conversationId) === stop) running.delete(conversationId);
    }
  };
  const work: WakeUpHandler = async (conversationId, signal) => {
    // A wake-up that seemed to be stalled is redelivered, so the first run must leave the lane
    // first.
    if (cutOff.isSuspected() || running.has(conversationId)) return STILL_HERE_MS;
    // The sweep may have filled the slots while the queue was unreachable.
    if (running.size >= options.concurrency) return STILL_HERE_MS;
    const stop = new AbortController();
    const handBack = (): void => end(stop, 'handed-back');
    signal.addEventListener('abort', handBack, { once: true });
    running.set(conversationId, stop);
    const done = run(conversationId, stop);
    try {
      return await Promise.race([done, waitForUnresponsiveTurn(stop.signal)]);
    } finally {
      signal.removeEventListener('abort', handBack);
      if (running.get(conversationId) === stop) {
        running.delete(conversationId);
        if (getStopReason(stop.signal) === 'lease-lost') cutOff.suspect();
        deps.log.warn({ conversation: conversationId }, 'abandoned a turn that did not end');
        done.catch(() => undefined);
      }
    }
  };
  const worker = await options.queue.work(work, options.concurrency);
  const direct = startKeyedWork({
    name: 'lanes without the queue',
    handler: work,
    concurrency: options.concurrency,
    log: deps.log,
    random: () => 0,
  });
  const undelivered = createUndeliveredFinder(options.queue);
  const sweep = startSweep('lanes', options.sweepMs, deps.log, async () => {
    const found = await deps.lanes.withWork(SWEEP_BATCH, deps.leaseMs ?? LEASE_MS);
    const here = await undelivered(found);
    for (const id of here.slice(0, Math.max(0, options.concurrency - running.size)))
      direct.wake(id);
  });
  return {
    async close(graceMs) {
      isClosing = true;
      cutOff.close();
      await sweep.stop();
      await Promise.all([worker.close(graceMs), direct.close(graceMs)]);
      unsubscribe();
    },
  };
}

/**
 * Wakes the conversations found by a sweep, and returns those whose wake-up the queue does not
 * deliver: it refuses the wake-up, or it already had the wake-up at the previous sweep. Two workers
 * may return the same conversation; the lease decides which of them runs it.
 */
function createUndeliveredFinder(queue: Pick<WakeUpQueue, 'rewake'>) {
  let woken: ReadonlySet<string> = new Set();
  return async (found: readonly string[]): Promise<readonly string[]> => {
    const wokenNow = new Set<string>();
    const undelivered: string[] = [];
    let refuses = false;
    for (const id of found) {
      // A refusal can take as long as a command timeout, so the sweep does not try any more after
      // the first refusal.
      const wakeUp: RewakeResult = refuses ? 'refused' : await queue.rewake(id);
      refuses = wakeUp === 'refused';
      // A delayed job runs by itself later, and a lane that has just failed should not be retried
      // sooner.
      if (wakeUp === 'delayed') continue;
      wokenNow.add(id);
      if (refuses || woken.has(id)) undelivered.push(id);
    }
    woken = wokenNow;
    return undelivered;
  };
}

/**
 * For a turn that ignores its signal: resolves to the delay in ms after which another worker may
 * take the lane.
 */
async function waitForUnresponsiveTurn(signal: AbortSignal): Promise<number> {
  if (!signal.aborted) await once(signal, 'abort');
  // A turn that is handed back may use all of the time until the process exits.
  if (getStopReason(signal) === 'handed-back') return new Promise(() => undefined);
  await sleep(LET_GO_MS, undefined, { ref: false });
  return 1;
}

/** Pauses a worker while it cannot reach the database. */
function watchDatabase({ lanes, log }: LaneDeps, worker: () => WakeUpWorker) {
  let suspected = false;
  let closed = false;
  const untilItAnswers = async (): Promise<void> => {
    for (let failed = 0; !closed; failed += 1) {
      try {
        await lanes.withWork(1, LEASE_MS);
        if (failed > 0) log.info({}, 'database reachable again; taking conversations');
        return;
      } catch (error) {
        const reason = reasonOf(error);
        if (failed === 0) log.warn({ reason }, 'database unreachable; not taking conversations');
        await sleep(CUT_OFF_LOOK_MS, undefined, { ref: false });
      }
    }
  };
  return {
    isSuspected: () => suspected,
    suspect() {
      if (suspected || closed) return;
      suspected = true;
      worker().pause();
      void untilItAnswers().then(() => {
        suspected = false;
        if (!closed) worker().resume();
      });
    },
    close() {
      closed = true;
    },
  };
}
