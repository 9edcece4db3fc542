import type { CommitResult, Lease, NewPart } from './rows.ts';

/**
 * What became of a question: `expired` nobody answered in time, `withdrawn` its turn was stopped,
 * `auto` the settings allow such calls and nobody was asked.
 */
export type ApprovalState = 'pending' | 'approved' | 'denied' | 'expired' | 'withdrawn' | 'auto';

/** A call of a tool that somebody has to allow (G05). */
export interface NewApproval {
  /** What people type; never used twice. */
  readonly code: string;
  readonly turnId: string;
  /** The call in the journal of its turn. */
  readonly callKey: string;
  readonly tool: string;
  /** The arguments as people are shown them. */
  readonly shown: string;
  /** Whose message led to the call: `telegram:42`. */
  readonly askedBy: string;
  /** Where, for people: `telegram group -5`. */
  readonly place: string;
  /** The conversation in which the question is put: it is decided there and nowhere else. */
  readonly askedIn: string;
  /** Who may decide besides owners. */
  readonly approvers: readonly string[];
  /** From then on it counts as refused. In ms. */
  readonly expiresAt: number;
}

/** A question and what became of it. Times in ms. */
export interface Approval extends NewApproval {
  readonly conversationId: string;
  readonly state: ApprovalState;
  readonly askedAt: number;
  /** The person; null where none decided. */
  readonly decidedBy: string | null;
  readonly decidedAt: number | null;
  /** How the call itself ended, once it was run. */
  readonly result: 'done' | 'failed' | null;
}

/** What `/approve` or `/deny` found. `closed`: it was decided, or over, before. */
export type ApprovalVerdict =
  | { readonly kind: 'decided' | 'closed'; readonly approval: Approval }
  /** It was put in another conversation, so nothing is decided here. */
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'unknown' }
  /** No code was given: what was put in this conversation and waits. */
  | { readonly kind: 'pending'; readonly approvals: readonly Approval[] };

/**
 * Questions to people, each decided at most once. A turn with an open question is suspended: it is
 * not claimed, and no other turn of its conversation begins (D02). Decided by a command of the inbox.
 */
export interface ApprovalRepository {
  /**
   * Stores the question, its outbox parts, and that the turn waits for it: one transaction, fenced
   * like a commit. The same call is asked about once, however often this is told.
   */
  ask(
    lease: Lease,
    approval: NewApproval,
    parts: readonly NewPart[],
    now: number,
  ): Promise<'asked' | 'code-taken' | 'fenced'>;
  /** Records that a call needed nobody's yes, because the settings allow it. */
  allow(lease: Lease, approval: NewApproval, now: number): Promise<CommitResult>;
  /** The question about a call; null when nobody was asked. */
  of(turnId: string, callKey: string): Promise<Approval | null>;
  /** Closes questions whose time is up; gives back the conversations whose turns go on. */
  expire(now: number): Promise<readonly string[]>;
  /** The newest `limit` questions, newest first: the audit. */
  recent(limit: number): Promise<readonly Approval[]>;
}
