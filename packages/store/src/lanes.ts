import type { ClaimedTurn, CommitResult, Lease, TurnCommit } from './rows.ts';

/** How messages that wait together become turns (D03): all of them one turn, or one turn each. */
export type ClaimMode = 'collect' | 'followup';

/**
 * One turn at a time per conversation (D02). Every write takes the lease and checks its epoch in
 * the same transaction, so a worker that was thought dead can never commit.
 */
export interface LaneRepository {
  /**
   * Takes the lane unless another live worker holds it; moves the epoch on. `busy` says how long
   * (ms from `now`) the other lease still runs.
   */
  acquire(
    conversationId: string,
    owner: string,
    now: number,
    leaseMs: number,
  ): Promise<{ kind: 'held'; lease: Lease } | { kind: 'busy'; retryInMs: number }>;
  /**
   * `acquire` and, if the lane is free, `claim` in one transaction: how work on a lane begins. With
   * `none` or `settling` the lane is free again at once.
   */
  begin(
    work: { conversationId: string; owner: string; leaseMs: number },
    mode: ClaimMode,
    newTurnId: string,
    now: number,
  ): Promise<
    | { kind: 'busy'; retryInMs: number }
    | { kind: 'none' }
    | { kind: 'settling'; retryInMs: number }
    | { kind: 'turn'; lease: Lease; turn: ClaimedTurn }
  >;
  /** Prolongs the lease; false when it was lost. */
  renew(lease: Lease, until: number): Promise<boolean>;
  /** Gives the lane back; harmless when the lease was lost. */
  release(lease: Lease): Promise<void>;
  /** When the newest waiting message was received, null when none waits. Decides the collect pause. */
  newestWaiting(conversationId: string): Promise<number | null>;
  /**
   * The next turn: an unfinished one first (resumed, attempts + 1), else the waiting messages under
   * `newTurnId`. `none` when nothing waits, `settling` when what waits is a burst that may not be
   * over (F08): the lane is given back in the same transaction.
   * `fenced` when the lease was lost.
   */
  claim(
    lease: Lease,
    mode: ClaimMode,
    newTurnId: string,
    now: number,
  ): Promise<
    | { kind: 'turn'; turn: ClaimedTurn }
    | { kind: 'none' }
    | { kind: 'settling'; retryInMs: number }
    | { kind: 'fenced' }
  >;
  /** Transcript, outbox parts, usage and inbox rows of one turn in one fenced transaction (D04). */
  commit(lease: Lease, commit: TurnCommit, now: number): Promise<CommitResult>;
  /** Conversations that have waiting messages or an unfinished turn and no live lease: the sweep. */
  withWork(now: number, limit: number): Promise<readonly string[]>;
  /** Ends every lease; only for a process that has the data folder to itself, at its start. */
  releaseAll(): Promise<void>;
}
