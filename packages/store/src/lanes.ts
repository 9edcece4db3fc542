import type { BusyPolicy, FreshParts } from '@parley/contracts';
import type {
  ClaimedTurn,
  CommitResult,
  InboxRow,
  JournalStep,
  Lease,
  TurnCommit,
} from './rows.ts';

/** Which messages may join a running turn, and what the journal is told of that (D03). */
export interface Joining {
  readonly turnId: string;
  /** Of the conversation when the turn began: with another one nothing joins. */
  readonly mode: ClaimedTurn['mode'];
  /** Whether the turn may answer this one, too; the first that may not, and all behind it, wait. */
  readonly mayJoin: (row: InboxRow) => boolean;
  /** What is stored in the journal together with the messages. */
  readonly steps: (rows: readonly InboxRow[]) => readonly JournalStep[];
}

/** What became of a turn that was to be ended by a later message. */
export type Interruption =
  | { readonly kind: 'interrupted' }
  /** Nothing waits that could end it, or its messages have been interrupted often enough. */
  | { readonly kind: 'goes-on' }
  /** What waits may not be whole yet: ask again after this many ms. */
  | { readonly kind: 'later'; readonly retryInMs: number }
  | { readonly kind: 'fenced' };

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
    busy: BusyPolicy,
    newTurnId: string,
    now: number,
  ): Promise<
    | { kind: 'busy'; retryInMs: number }
    | { kind: 'none' }
    | { kind: 'settling'; retryInMs: number }
    | { kind: 'turn'; lease: Lease; turn: ClaimedTurn }
  >;
  /**
   * Prolongs leases; gives back the conversations of which it could, and those that another transaction is
   * writing to at this moment: neither lost nor prolonged.
   */
  renew(
    leases: readonly Lease[],
    until: number,
  ): Promise<{ readonly renewed: readonly string[]; readonly busy: readonly string[] }>;
  /**
   * Gives the lane back; harmless when the lease was lost. `blameless`: a turn that failed for want of the
   * database, so that this beginning of it is not counted.
   */
  release(lease: Lease, blameless?: string): Promise<void>;
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
    busy: BusyPolicy,
    newTurnId: string,
    now: number,
  ): Promise<
    | { kind: 'turn'; turn: ClaimedTurn }
    | { kind: 'none' }
    | { kind: 'settling'; retryInMs: number }
    | { kind: 'fenced' }
  >;
  /**
   * Gives what waits to a running turn (`steer`), with the steps of its journal that say so, in one fenced
   * transaction. None where nothing may join: what waits is a burst or has files that are not complete,
   * was written after `/new` or `/mode`, or is answered elsewhere.
   */
  join(
    lease: Lease,
    joining: Joining,
    now: number,
  ): Promise<{ kind: 'joined'; rows: readonly InboxRow[] } | { kind: 'none' } | { kind: 'fenced' }>;
  /**
   * Ends a running turn because of what a person wrote since (`interrupt`): its messages wait again, before
   * the newer ones, and nothing more can be stored with it. Messages to which that happened three times
   * are answered first.
   */
  interrupt(lease: Lease, turnId: string, now: number): Promise<Interruption>;
  /**
   * Transcript, outbox parts, usage, prompt and inbox rows of one turn in one fenced transaction (D04).
   * `left`: nothing waited, and the lane is free again as was wished. `stored` is called after the commit.
   */
  commit(
    lease: Lease,
    commit: TurnCommit,
    now: number,
    stored?: (fresh: FreshParts) => void,
  ): Promise<CommitResult | 'left'>;
  /** Conversations that have waiting messages or an unfinished turn and no live lease: the sweep. */
  withWork(now: number, limit: number): Promise<readonly string[]>;
  /** Ends every lease; only for a process that has the data folder to itself, at its start. */
  releaseAll(): Promise<void>;
}
