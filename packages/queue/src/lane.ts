import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BusyPolicy,
  busyIn,
  type Clock,
  type Logger,
  type Monotonic,
  type NewId,
  nextAttempt,
  noWorkRecord,
  ParleyError,
  type ReplyRoute,
  reasonOf,
  reasonToGiveUp,
  type WorkRecord,
} from '@parley/core';
import {
  type ClaimedTurn,
  HEARTBEAT_LANE,
  isLane,
  type LaneRepository,
  type Lease,
  SUB_AGENT_LANE,
} from '@parley/store';

/** The lease of a lane. A turn that releases the lane with its commit calls `onLeft` at once. */
export interface LaneLease extends Lease {
  readonly onLeft?: () => void;
}

/** Runs one turn to its commit. The signal fires when the turn must end; `stopReasonOf` says why. */
export type RunTurn = (turn: ClaimedTurn, lease: LaneLease, signal: AbortSignal) => Promise<void>;

/** The services of a lane: the table, the work, and how messages that wait together become turns. */
export interface LaneDeps {
  readonly lanes: LaneRepository;
  readonly runTurn: RunTurn;
  readonly busy: BusyPolicy;
  readonly collectPauseMs: number;
  /** Names this worker in the lease. */
  readonly owner: string;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly newId: NewId;
  readonly log: Logger;
  /** The life of a lease without renewal, in ms; `LEASE_MS` when absent. */
  readonly leaseMs?: number;
  /** Renews the lease together with those of other lanes; by itself when absent. */
  readonly keepLease?: KeepLease;
  /** Records claims, which may end the process; nothing is recorded when absent. */
  readonly work?: WorkRecord | undefined;
  /** Notifies the chat of messages that were given up because their claim ends the process. */
  readonly notifyGivenUp?: (route: ReplyRoute) => Promise<void>;
  /** Whether what waits is for another worker: after the turn that runs the lane is left to it. */
  readonly isLeaving?: () => boolean;
}

/**
 * The longest time that a busy lane is left alone, in ms. Its holder may let go early, and until then a wake-up for a
 * message it has just missed counts as a repetition.
 */
const RECHECK_MS = 1_000;

/**
 * Works on one conversation until nothing waits (D02): lease and claim, turn, commit. A commit that finds
 * nothing waiting gives the lane back; after any other this looks again.
 * Returns after how many ms to come back when another worker holds the lane or a burst may not be
 * over, else null. Throws what
 * `runTurn` threw, with the lane released.
 */
export async function runLane(
  deps: LaneDeps,
  conversationId: string,
  stop: AbortController,
): Promise<number | null> {
  const { lanes, owner, busy, clock, monotonic, newId, leaseMs = LEASE_MS } = deps;
  const { keepLease = keepLeases(deps) } = deps;
  const askedAt = monotonic();
  const lane = { conversationId, owner, leaseMs };
  if (await giveUpIfFatal(deps, lane)) return null;
  const started = await recordClaim(deps, conversationId, () =>
    lanes.begin(lane, busy, newId('turn'), clock()),
  );
  if (started.kind === 'busy') return Math.min(started.retryInMs, RECHECK_MS);
  if (started.kind === 'settling') return started.retryInMs;
  if (started.kind === 'none') return null;
  const { lease, turn } = started;
  const lost: StopReason = 'lease-lost';
  const endRenewal = keepLease(lease, askedAt, () => stop.abort(lost));
  let ending = ENDED;
  let blameless: string | undefined;
  const onLeft = (): void => {
    ending = { left: true, again: null };
    endRenewal();
  };
  try {
    const left = () => ending.left;
    ending = await runTurns(deps, turn, { ...lease, onLeft }, stop.signal, left);
  } catch (error) {
    if (!(error instanceof TurnFailed)) throw error;
    if (isOfTheDatabase(error.cause)) blameless = error.turnId;
    throw error.cause;
  } finally {
    endRenewal();
    if (!ending.left) await releaseLease(deps, lease, blameless);
  }
  return ending.again;
}

/** Records that this process claims what waits in a conversation. */
function recordClaim<Claimed>(
  { work = noWorkRecord }: LaneDeps,
  conversationId: string,
  claim: () => Promise<Claimed>,
): Promise<Claimed> {
  return work.run({ kind: 'claim', key: conversationId }, claim);
}

/**
 * Gives up what waits where claiming it has ended the process too often. Lanes without people are claimed all the
 * same: what they hold is written by Parley itself, and more than a turn stands for it.
 */
async function giveUpIfFatal(
  deps: LaneDeps,
  lane: { readonly conversationId: string; readonly owner: string; readonly leaseMs: number },
): Promise<boolean> {
  const { lanes, clock, newId, log, work = noWorkRecord } = deps;
  const { conversationId } = lane;
  const ends = work.endsOf({ kind: 'claim', key: conversationId });
  const next = nextAttempt(ends);
  if (next === 'run' || isLane(conversationId, HEARTBEAT_LANE, SUB_AGENT_LANE)) return false;
  const reason = `claiming it: ${reasonToGiveUp(ends)}`;
  await recordClaim(deps, conversationId, async () => {
    const route = await lanes.drop(lane, { turnId: newId('turn'), reason }, clock());
    log.error({ conversation: conversationId, reason }, 'what waited here was given up');
    if (route !== null && next === 'give-up') await deps.notifyGivenUp?.(route);
  });
  return true;
}

/** Whether work on a lane failed because this process cannot reach the database. */
export function isCutOff(error: unknown): boolean {
  return error instanceof ParleyError && error.code === 'store-unreachable';
}

/** `left`: the lane was given back already. Nothing may be claimed before `again` (ms from now; null: nothing waits). */
interface Ending {
  readonly left: boolean;
  readonly again: number | null;
}

const ENDED: Ending = { left: false, again: null };
/** Another worker may look at once. */
const LEFT_TO_ANOTHER: Ending = { left: false, again: 1 };

/** Turn after turn, until nothing more may be claimed. */
async function runTurns(
  deps: LaneDeps,
  first: ClaimedTurn,
  lease: LaneLease,
  signal: AbortSignal,
  hasLeft: () => boolean,
): Promise<Ending> {
  let turn = first;
  while (!signal.aborted) {
    await runOne(deps, turn, lease, signal);
    if (hasLeft()) return { left: true, again: null };
    if (deps.isLeaving?.()) return LEFT_TO_ANOTHER;
    if (!isOneByOne(deps.busy, turn)) await waitForQuiet(deps, lease.conversationId, signal);
    if (signal.aborted) return ENDED;
    const next = await recordClaim(deps, lease.conversationId, () =>
      deps.lanes.claim(lease, deps.busy, deps.newId('turn'), deps.clock()),
    );
    if (next.kind === 'fenced') return ENDED;
    if (next.kind === 'none') return { left: true, again: null };
    if (next.kind === 'settling') return { left: true, again: next.retryInMs };
    turn = next.turn;
  }
  return ENDED;
}

/** Names the turn that threw. */
class TurnFailed extends Error {
  readonly turnId: string;

  constructor(turnId: string, cause: unknown) {
    super(reasonOf(cause), { cause });
    this.turnId = turnId;
  }
}

async function runOne(
  { lanes, runTurn }: LaneDeps,
  turn: ClaimedTurn,
  lease: LaneLease,
  signal: AbortSignal,
): Promise<void> {
  try {
    // A sync takes its time, so only where an earlier run of the turn did not end well.
    if (turn.resumed) await lanes.syncAttempt(turn.turnId);
    await runTurn(turn, lease, signal);
  } catch (error) {
    throw new TurnFailed(turn.turnId, error);
  }
}

/** A turn that cannot be stored is as good as before: it may be started as often as it takes. */
const OF_THE_DATABASE: ReadonlySet<string> = new Set([
  'store-busy',
  'store-full',
  'store-unreachable',
]);

function isOfTheDatabase(error: unknown): boolean {
  return error instanceof ParleyError && OF_THE_DATABASE.has(error.code);
}

/** Messages that get a turn each need not be waited for. */
function isOneByOne(busy: BusyPolicy, { messages }: ClaimedTurn): boolean {
  const last = messages.at(-1)?.message;
  return last !== undefined && busyIn(busy, last) === 'followup';
}

/** A lease that cannot be released runs out by itself, so the work does not fail. */
async function releaseLease(
  { lanes, log }: LaneDeps,
  lease: Lease,
  blameless: string | undefined,
): Promise<void> {
  try {
    await lanes.release(lease, blameless);
  } catch (error) {
    log.warn({ conversation: lease.conversationId, reason: reasonOf(error) }, 'lease not released');
  }
}

async function waitForQuiet(
  deps: LaneDeps,
  conversationId: string,
  signal: AbortSignal,
): Promise<void> {
  const { lanes, clock, monotonic, collectPauseMs: pauseMs } = deps;
  const startedAt = monotonic();
  while (!signal.aborted) {
    const newestWaiting = await lanes.newestWaiting(conversationId);
    if (newestWaiting === null) return;
    const pause = collectPause({
      quietForMs: clock() - newestWaiting,
      waitedMs: monotonic() - startedAt,
      pauseMs,
    });
    if (pause === 0) return;
    // Ends early when the lane is stopped, which the loop sees.
    await sleep(pause, undefined, { signal }).catch(() => undefined);
  }
}

/** The facts for the decision to wait for more messages. */
interface CollectFacts {
  /** The age of the newest waiting message, in ms; negative where the clock was set back since. */
  readonly quietForMs: number;
  /** Quiet time that ends a burst, in ms. */
  readonly pauseMs: number;
  /** The time that the lane has waited, in ms; a person who never stops typing is answered all the same. */
  readonly waitedMs: number;
}

/** A burst is cut after this many pauses, so that even a person who keeps writing gets an answer. */
const MAX_WAIT_IN_PAUSES = 10;

/** The wait in ms before the messages written during a turn become the next one (D03); 0 means go. */
export function collectPause(facts: CollectFacts): number {
  const quietIn = facts.pauseMs - facts.quietForMs;
  const patience = MAX_WAIT_IN_PAUSES * facts.pauseMs - facts.waitedMs;
  return Math.max(0, Math.min(quietIn, patience, facts.pauseMs));
}

/**
 * Why a running turn must end: a person asked for it, another worker has the lane now, a later message
 * is answered together with what it was about, or this process shuts down and the next one resumes it.
 */
export type StopReason = 'stopped' | 'lease-lost' | 'interrupted' | 'handed-back';

/** Why a lane's signal fired; null while it has not. */
export function stopReasonOf(signal: AbortSignal): StopReason | null {
  if (!signal.aborted) return null;
  const { reason } = signal;
  return reason === 'stopped' || reason === 'lease-lost' || reason === 'interrupted'
    ? reason
    : 'handed-back';
}

/**
 * The life of a lease without renewal, in ms. After this the lane of a dead or stuck worker is free, and with the
 * sweep that finds it (3 s) another worker answers within 15 s (D13).
 */
export const LEASE_MS = 8_000;
/** The looks for expired leases within the life of one, and after how many looks it renews all. */
const LOOKS_IN_A_LIFE = 10;
const LOOKS_TO_RENEW = 3;

interface KeepLeasesDeps {
  readonly lanes: Pick<LaneRepository, 'renew'>;
  readonly monotonic: Monotonic;
  readonly log: Logger;
  /** `LEASE_MS` when absent; tests cannot wait that long. */
  readonly leaseMs?: number;
}

/**
 * Renews a lease that was asked for at `askedAt` (monotonic ms) until the returned function is called. `lost` is
 * called once: when another worker has it, or when it ran out because the database did not answer. It is
 * not renewed any more then, even if the database would allow it.
 */
type KeepLease = (lease: Lease, askedAt: number, lost: () => void) => () => void;

interface KeptLease {
  readonly lease: Lease;
  /** When it counts as lost without a renewal; monotonic ms, since a step of the clock ends no lease. */
  until: number;
  readonly lost: () => void;
}

/**
 * Renews all leases of a worker with one query, three times in their life: a database that is slow must
 * not be asked the more, the more turns wait for it.
 */
export function keepLeases({
  lanes,
  monotonic,
  log,
  leaseMs = LEASE_MS,
}: KeepLeasesDeps): KeepLease {
  const kept = new Set<KeptLease>();
  let timer: NodeJS.Timeout | undefined;
  let renewing = false;
  let looks = 0;
  const drop = (one: KeptLease): void => {
    kept.delete(one);
    if (kept.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  const lose = (one: KeptLease): void => {
    drop(one);
    one.lost();
  };
  const renew = async (): Promise<void> => {
    const all = [...kept];
    const until = monotonic() + leaseMs;
    renewing = true;
    try {
      const leases = all.map(({ lease }) => lease);
      const asked = await lanes.renew(leases, leaseMs);
      const [renewed, busy] = [new Set(asked.renewed), new Set(asked.busy)];
      for (const one of all) {
        if (renewed.has(one.lease.conversationId)) one.until = until;
        else if (!busy.has(one.lease.conversationId) && kept.has(one)) lose(one);
      }
    } catch (error) {
      log.warn({ leases: all.length, reason: reasonOf(error) }, 'leases not renewed');
    } finally {
      renewing = false;
    }
  };
  const tick = (): void => {
    for (const one of [...kept]) if (monotonic() >= one.until) lose(one);
    looks += 1;
    // A renewal that takes longer than this is waited for: another one would only be in its way.
    if (looks < LOOKS_TO_RENEW || renewing || kept.size === 0) return;
    looks = 0;
    void renew();
  };
  return (lease, askedAt, lost) => {
    const one = { lease, until: askedAt + leaseMs, lost };
    kept.add(one);
    timer ??= setInterval(tick, leaseMs / LOOKS_IN_A_LIFE);
    return () => drop(one);
  };
}
