import type { CommitResult, JournalStep, Lease } from './rows.ts';

/** What `parley status` says about recent turns. */
export interface TurnTotals {
  readonly answered: number;
  readonly failed: number;
  readonly stopped: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

/** The turn journal (G16): finished steps, appended as they complete. */
export interface TurnRepository {
  /** Appends one step, fenced like a commit. */
  appendStep(lease: Lease, turnId: string, step: JournalStep, now: number): Promise<CommitResult>;
  /** Sums over turns finished at or after `since` (ms). */
  totals(since: number): Promise<TurnTotals>;
}
