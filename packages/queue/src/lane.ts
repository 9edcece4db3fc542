import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BusyPolicy,
  type Clock,
  decideNextAttempt,
  describeCrashes,
  type Logger,
  type Monotonic,
  type NewId,
  noWorkRecord,
  ParleyError,
  type ReplyRoute,
  reasonOf,
  resolveBusyMode,
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
import { type KeepLeaseAlive, LEASE_MS, startLeaseRenewal } from './keep-leases.ts';

/** The lease on a lane; a turn whose commit releases the lane calls `onLeft` right afterwards. */
export interface LaneLease extends Lease {
  readonly onLeft?: () => void;
}

/**
 * Runs one turn up to its commit; the signal fires when the turn must end, and `getStopReason`
 * returns the reason.
 */
export type RunTurn = (turn: ClaimedTurn, lease: LaneLease, signal: AbortSignal) => Promise<void>;

/**
 * The dependencies of a lane: its table, the function that runs a turn, and the rules for grouping
 * waiting messages into turns.
 */
export interface LaneDeps {
  readonly lanes: LaneRepository;
  readonly runTurn: RunTurn;
  readonly busy: BusyPolicy;
  readonly collectPauseMs: number;
  /** The name under which this worker holds the lease. */
  readonly owner: string;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly newId: NewId;
  readonly log: Logger;
  /** The lifetime of a lease without renewal, in ms; defaults to `LEASE_MS`. */
  readonly leaseMs?: number;
  /**
   * Renews the lease together with those of other lanes; if absent, each lane renews its own lease.
   */
  readonly keepLease?: KeepLeaseAlive;
  /**
   * Records which lanes are being claimed, because a claim may crash the process; if absent,
   * nothing is recorded.
   */
  readonly work?: WorkRecord | undefined;
  /**
   * Notifies the chat that its messages were given up because claiming them crashes the process.
   */
  readonly notifyGivenUp?: (route: ReplyRoute) => Promise<void>;
  /**
   * Called if messages wait that turns may not claim, because a person has taken over the
   * conversation or its turn is suspended. In all other cases, whoever watches the conversation
   * sees the turn.
   */
  readonly onHeldUp?: () => void;
  /**
   * Whether this worker is shutting down, in which case it leaves the lane to another worker after
   * the current turn.
   */
  readonly isLeaving?: () => boolean;
}

/**
 * The maximum delay before a busy lane is checked again, in ms. The lane's holder may release it
 * early. Until the lane is checked again, wake-ups for a message that the holder has just missed
 * are dropped as duplicates.
 */
const RECHECK_MS = 1_000;

/**
 * Works on one conversation until no message waits (D02): acquires the lease, claims and runs
 * turns, and commits them. If a commit does not find a waiting message, it also releases the lane;
 * after any other commit, this function claims again. Returns the delay in ms before the next
 * attempt if another worker holds the lane or a burst may be incomplete; otherwise returns null.
 * Throws the error of `runTurn` after releasing the lane.
 */
export async function runLane(
  deps: LaneDeps,
  conversationId: string,
  stop: AbortController,
): Promise<number | null> {
  const { lanes, owner, busy, clock, monotonic, newId, leaseMs = LEASE_MS } = deps;
  const { keepLease = startLeaseRenewal(deps) } = deps;
  const askedAt = monotonic();
  const lane = { conversationId, owner, leaseMs };
  if (await giveUpFatalMessages(deps, lane)) return null;
  const started = await recordClaim(deps, conversationId, () =>
    lanes.begin(lane, busy, newId('turn'), clock()),
  );
  if (started.kind === 'busy') return Math.min(started.retryInMs, RECHECK_MS);
  if (started.kind === 'settling') return started.retryInMs;
  if (started.kind !== 'turn') {
    if (started.kind !== 'none') deps.onHeldUp?.();
    return null;
  }
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
    if (!(error instanceof TurnFailedError)) throw error;
    if (isDatabaseError(error.cause)) blameless = error.turnId;
    throw error.cause;
  } finally {
    endRenewal();
    if (!ending.left) await releaseLease(deps, lease, blameless);
  }
  return ending.again;
}

/** Records that this process is claiming the waiting messages of a conversation. */
function recordClaim<Claimed>(
  { work = noWorkRecord }: LaneDeps,
  conversationId: string,
  claim: () => Promise<Claimed>,
): Promise<Claimed> {
  return work.run({ kind: 'claim', key: conversationId }, claim);
}

/**
 * Gives up the waiting messages if claiming them has crashed the process too often. Lanes without
 * people are always claimed, because Parley itself writes their messages, and giving them up would
 * affect more than one turn.
 */
async function giveUpFatalMessages(
  deps: LaneDeps,
  lane: { readonly conversationId: string; readonly owner: string; readonly leaseMs: number },
): Promise<boolean> {
  const { lanes, clock, newId, log, work = noWorkRecord } = deps;
  const { conversationId } = lane;
  const ends = work.endsOf({ kind: 'claim', key: conversationId });
  const next = decideNextAttempt(ends);
  if (next === 'run' || isLane(conversationId, HEARTBEAT_LANE, SUB_AGENT_LANE)) return false;
  const reason = `claiming it: ${describeCrashes(ends)}`;
  await recordClaim(deps, conversationId, async () => {
    const dropped = await lanes.drop(lane, { turnId: newId('turn'), reason }, clock());
    if (dropped.kind !== 'dropped') return;
    log.error({ conversation: conversationId, reason }, 'gave up the waiting messages');
    if (next === 'give-up') await deps.notifyGivenUp?.(dropped.route);
  });
  return true;
}

/** Whether work on a lane failed because this process cannot reach the database. */
export function isDatabaseUnreachable(error: unknown): boolean {
  return error instanceof ParleyError && error.code === 'store-unreachable';
}

/**
 * How the work on a lane ended. `left`: the lane is already released. `again`: the delay in ms
 * before the next claim; null if no message waits.
 */
interface LaneRunResult {
  readonly left: boolean;
  readonly again: number | null;
}

const ENDED: LaneRunResult = { left: false, again: null };
/** A short delay, because another worker may claim immediately. */
const LEFT_TO_ANOTHER: LaneRunResult = { left: false, again: 1 };

/** Runs turns until no message is left to claim. */
async function runTurns(
  deps: LaneDeps,
  first: ClaimedTurn,
  lease: LaneLease,
  signal: AbortSignal,
  hasLeft: () => boolean,
): Promise<LaneRunResult> {
  let turn = first;
  while (!signal.aborted) {
    await runSingleTurn(deps, turn, lease, signal);
    if (hasLeft()) return { left: true, again: null };
    if (deps.isLeaving?.()) return LEFT_TO_ANOTHER;
    if (!hasSeparateTurns(deps.busy, turn)) await waitForQuiet(deps, lease.conversationId, signal);
    if (signal.aborted) return ENDED;
    const next = await recordClaim(deps, lease.conversationId, () =>
      deps.lanes.claim(lease, deps.busy, deps.newId('turn'), deps.clock()),
    );
    if (next.kind === 'fenced') return ENDED;
    if (next.kind === 'settling') return { left: true, again: next.retryInMs };
    if (next.kind !== 'turn') return { left: true, again: null };
    turn = next.turn;
  }
  return ENDED;
}

/** Adds the turn's id to its error. */
class TurnFailedError extends Error {
  readonly turnId: string;

  constructor(turnId: string, cause: unknown) {
    super(reasonOf(cause), { cause });
    this.turnId = turnId;
  }
}

async function runSingleTurn(
  { lanes, runTurn }: LaneDeps,
  turn: ClaimedTurn,
  lease: LaneLease,
  signal: AbortSignal,
): Promise<void> {
  try {
    // A sync is slow, so it happens only after an earlier run of the turn ended badly.
    if (turn.resumed) await lanes.syncAttempt(turn.turnId);
    await runTurn(turn, lease, signal);
  } catch (error) {
    throw new TurnFailedError(turn.turnId, error);
  }
}

/** Failures to store a turn, which do not count as attempts because the turn did not cause them. */
const OF_THE_DATABASE: ReadonlySet<string> = new Set([
  'store-busy',
  'store-full',
  'store-unreachable',
]);

function isDatabaseError(error: unknown): boolean {
  return error instanceof ParleyError && OF_THE_DATABASE.has(error.code);
}

/** If every message gets a separate turn, there is no reason to wait for more. */
function hasSeparateTurns(busy: BusyPolicy, { messages }: ClaimedTurn): boolean {
  const last = messages.at(-1)?.message;
  return last !== undefined && resolveBusyMode(busy, last) === 'followup';
}

/** A failed release is harmless, because the lease expires by itself. */
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
    const pause = computeCollectDelay({
      quietForMs: clock() - newestWaiting,
      waitedMs: monotonic() - startedAt,
      pauseMs,
    });
    if (pause === 0) return;
    // An abort ends the sleep early, and the loop condition handles it.
    await sleep(pause, undefined, { signal }).catch(() => undefined);
  }
}

/** The values that decide whether to wait for more messages. */
interface CollectDelayInputs {
  /** The age of the newest waiting message, in ms; negative if the clock was set back. */
  readonly quietForMs: number;
  /** The quiet time that ends a burst, in ms. */
  readonly pauseMs: number;
  /**
   * How long the lane has waited, in ms, which limits the wait for a person who never stops typing.
   */
  readonly waitedMs: number;
}

/**
 * After this many pauses, the wait for a burst ends, so that a person who keeps writing still gets
 * an answer.
 */
const MAX_WAIT_IN_PAUSES = 10;

/**
 * Computes how long to wait before messages written during a turn become the next turn, in ms
 * (D03); 0 starts the turn now.
 */
export function computeCollectDelay(facts: CollectDelayInputs): number {
  const quietIn = facts.pauseMs - facts.quietForMs;
  const patience = MAX_WAIT_IN_PAUSES * facts.pauseMs - facts.waitedMs;
  return Math.max(0, Math.min(quietIn, patience, facts.pauseMs));
}

/**
 * Why a running turn must end: a person stopped it, another worker has the lane, a later message
 * will be answered together with it, or this process is shutting down and another one will resume
 * it.
 */
export type StopReason = 'stopped' | 'lease-lost' | 'interrupted' | 'handed-back';

/** Returns the reason why a lane's signal fired, or null if it has not fired. */
export function getStopReason(signal: AbortSignal): StopReason | null {
  if (!signal.aborted) return null;
  const { reason } = signal;
  return reason === 'stopped' || reason === 'lease-lost' || reason === 'interrupted'
    ? reason
    : 'handed-back';
}
