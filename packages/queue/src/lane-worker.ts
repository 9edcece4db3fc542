import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LiveBus, reasonOf } from '@parley/core';
import { startKeyedWork, startSweep, type WakeUpHandler } from './keyed-work.ts';
import {
  isCutOff,
  keepLeases,
  type LaneDeps,
  LEASE_MS,
  runLane,
  type StopReason,
  stopReasonOf,
} from './lane.ts';
import type { Rewoken, WakeUpQueue, WakeUpWorker } from './wake-up-queue.ts';

/** A worker of lanes: many conversations in parallel, one turn at a time in each. */
export interface LaneWorker {
  /** Takes no new conversations, waits up to `graceMs` for running turns, then releases them. */
  close(graceMs: number): Promise<void>;
}

/** The services of the worker besides the lane itself. */
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
/** Deadline for a turn to end after its signal fired, in ms; then its lane is released all the same. */
const LET_GO_MS = 1_000;
/** Poll interval of a worker that is cut off from the database, in ms. */
const CUT_OFF_LOOK_MS = 500;

/**
 * Starts working: answers wake-ups, obeys `/stop`, and sweeps for lanes whose wake-up was lost. What the
 * queue cannot deliver, the sweep runs itself, in the same slots, so that nobody waits for the queue (D13).
 * A lane whose lease is lost is let go whatever its turn does, and without the database nothing is taken:
 * in both cases another worker takes over, and the fence keeps the abandoned turn from writing.
 */
export async function startLaneWorker(
  deps: LaneDeps,
  options: LaneWorkerOptions,
): Promise<LaneWorker> {
  let isClosing = false;
  const lanes: LaneDeps = { keepLease: keepLeases(deps), ...deps, isLeaving: () => isClosing };
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
      if (isCutOff(error)) cutOff.suspect();
      throw error;
    } finally {
      if (running.get(conversationId) === stop) running.delete(conversationId);
    }
  };
  const work: WakeUpHandler = async (conversationId, signal) => {
    // A wake-up that looked dead is assigned again; its first run must leave the lane before.
    if (cutOff.isSuspected() || running.has(conversationId)) return STILL_HERE_MS;
    // The sweep may have filled the slots while the queue was away.
    if (running.size >= options.concurrency) return STILL_HERE_MS;
    const stop = new AbortController();
    const handBack = (): void => end(stop, 'handed-back');
    signal.addEventListener('abort', handBack, { once: true });
    running.set(conversationId, stop);
    const done = run(conversationId, stop);
    try {
      return await Promise.race([done, whenDeaf(stop.signal)]);
    } finally {
      signal.removeEventListener('abort', handBack);
      if (running.get(conversationId) === stop) {
        running.delete(conversationId);
        if (stopReasonOf(stop.signal) === 'lease-lost') cutOff.suspect();
        deps.log.warn({ conversation: conversationId }, 'a turn that does not end was abandoned');
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
  const undelivered = findUndelivered(options.queue);
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
 * Wakes the conversations that a sweep found, and returns those that the queue does not deliver: it refuses
 * their wake-up, or had it at the sweep before already. Two workers may return the same one; the lease decides
 * which of them runs it.
 */
function findUndelivered(queue: Pick<WakeUpQueue, 'rewake'>) {
  let woken: ReadonlySet<string> = new Set();
  return async (found: readonly string[]): Promise<readonly string[]> => {
    const wokenNow = new Set<string>();
    const undelivered: string[] = [];
    let refuses = false;
    for (const id of found) {
      // Each refusal can take as long as a command may, so one is enough for the whole sweep.
      const wakeUp: Rewoken = refuses ? 'refused' : await queue.rewake(id);
      refuses = wakeUp === 'refused';
      // A delay ends by itself; what failed a moment ago is not tried again sooner.
      if (wakeUp === 'delayed') continue;
      wokenNow.add(id);
      if (refuses || woken.has(id)) undelivered.push(id);
    }
    woken = wokenNow;
    return undelivered;
  };
}

/** After how many ms another worker may look at a lane whose turn continues although it should end. */
async function whenDeaf(signal: AbortSignal): Promise<number> {
  if (!signal.aborted) await once(signal, 'abort');
  // Released work has the time that the process still has.
  if (stopReasonOf(signal) === 'handed-back') return new Promise(() => undefined);
  await sleep(LET_GO_MS, undefined, { ref: false });
  return 1;
}

/** Pauses a worker that cannot reach the database, until it can. */
function watchDatabase({ lanes, log }: LaneDeps, worker: () => WakeUpWorker) {
  let suspected = false;
  let closed = false;
  const untilItAnswers = async (): Promise<void> => {
    for (let failed = 0; !closed; failed += 1) {
      try {
        await lanes.withWork(1, LEASE_MS);
        if (failed > 0) log.info({}, 'the database answers; conversations are taken again');
        return;
      } catch (error) {
        const reason = reasonOf(error);
        if (failed === 0) log.warn({ reason }, 'no conversations are taken without the database');
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
