import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock, Logger, NewId } from '@parley/contracts';
import type { ClaimedTurn, ClaimMode, LaneRepository, Lease } from '@parley/store';
import { collectPause } from './collect-pause.ts';

/** Runs one turn to its commit. The signal fires when the turn must end: stop, lost lease, shutdown. */
export type RunTurn = (turn: ClaimedTurn, lease: Lease, signal: AbortSignal) => Promise<void>;

/** What a lane needs: the table, the work, and how messages that wait together become turns. */
export interface LaneDeps {
  readonly lanes: LaneRepository;
  readonly runTurn: RunTurn;
  readonly mode: ClaimMode;
  readonly collectPauseMs: number;
  /** Names this worker in the lease. */
  readonly owner: string;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Logger;
}

/** How long a lease lives without renewal; a dead worker's lane is free again after this. */
const LEASE_MS = 10_000;
const RENEW_EVERY_MS = 3_000;

/**
 * Works on one conversation until nothing waits (D02): lease, claim, turn, commit, look again.
 * Returns after how many ms to come back when another worker holds the lane, else null.
 */
export async function runLane(
  deps: LaneDeps,
  conversationId: string,
  stop: AbortController,
): Promise<number | null> {
  const taken = await deps.lanes.acquire(conversationId, deps.owner, deps.clock(), LEASE_MS);
  if (taken.kind === 'busy') return taken.retryInMs;
  const { lease } = taken;
  const renewal = keepLease(deps, lease, stop);
  try {
    for (let turns = 0; !stop.signal.aborted; turns += 1) {
      if (turns > 0 && deps.mode === 'collect')
        await waitForQuiet(deps, conversationId, stop.signal);
      if (stop.signal.aborted) break;
      const claimed = await deps.lanes.claim(lease, deps.mode, deps.newId('turn'), deps.clock());
      if (claimed.kind !== 'turn') break;
      await deps.runTurn(claimed.turn, lease, stop.signal);
    }
  } finally {
    clearInterval(renewal);
    await deps.lanes.release(lease);
  }
  return null;
}

function keepLease(deps: LaneDeps, lease: Lease, stop: AbortController): NodeJS.Timeout {
  return setInterval(async () => {
    try {
      const kept = await deps.lanes.renew(lease, deps.clock() + LEASE_MS);
      if (!kept) stop.abort('lease-lost');
    } catch (error) {
      // The epoch protects the commit, so a renewal that fails costs at most this turn's work.
      deps.log.warn({ conversation: lease.conversationId, error }, 'lease not renewed');
    }
  }, RENEW_EVERY_MS);
}

async function waitForQuiet(
  deps: LaneDeps,
  conversationId: string,
  signal: AbortSignal,
): Promise<void> {
  const waitingSince = deps.clock();
  while (!signal.aborted) {
    const newestWaiting = await deps.lanes.newestWaiting(conversationId);
    if (newestWaiting === null) return;
    const pauseMs = deps.collectPauseMs;
    const pause = collectPause({ newestWaiting, now: deps.clock(), pauseMs, waitingSince });
    if (pause === 0) return;
    await sleep(pause, undefined, { signal }).catch(() => {});
  }
}
