import { z } from 'zod';
import { decodeCheckedJson } from './database.ts';

/**
 * The state of an approval. `expired`: not decided in time. `withdrawn`: its turn was stopped.
 * `auto`: allowed by the settings without asking. `answered`: a question asked by `ask_user` was
 * answered.
 */
type ApprovalState =
  | 'pending'
  | 'approved'
  | 'denied'
  | 'answered'
  | 'expired'
  | 'withdrawn'
  | 'auto';

/** A tool call that needs approval (G05), or a question asked by `ask_user`. */
export interface NewApproval {
  /** The code that people type. Codes are never reused. */
  readonly code: string;
  readonly turnId: string;
  /** Identifies the call in the turn's journal. */
  readonly callKey: string;
  readonly tool: string;
  /** The arguments as shown to users. */
  readonly shown: string;
  /** The author of the message that caused the call: `telegram:42`. */
  readonly askedBy: string;
  /** The place as shown to users: `telegram group -5`. */
  readonly place: string;
  /**
   * The conversation in which the question is asked. It is answered there, or by the owner on the
   * page.
   */
  readonly askedIn: string;
  /** The people, besides owners, who may decide. */
  readonly approvers: readonly string[];
  /** When it counts as refused, in ms. */
  readonly expiresAt: number;
  /**
   * The rule in `approvals.auto` that would always allow exactly this kind of call; absent if no
   * rule is that narrow.
   */
  readonly rule?: string | null;
  /**
   * Makes this a question: only `askedBy` may answer, with one of these choices or with free text.
   */
  readonly choices?: readonly string[] | null;
}

/** A question and its outcome. Times in ms. */
export interface Approval extends NewApproval {
  readonly rule: string | null;
  readonly choices: readonly string[] | null;
  /** The answer to the question; null if it was skipped. */
  readonly answer: string | null;
  readonly conversationId: string;
  readonly state: ApprovalState;
  readonly askedAt: number;
  /** The person who decided; null if nobody did. */
  readonly decidedBy: string | null;
  readonly decidedAt: number | null;
  /** The outcome of the call itself, once it has run. */
  readonly result: 'done' | 'failed' | null;
}

/** A stored question; its approvers are separated by newlines. */
export interface ApprovalRow extends Omit<Approval, 'approvers' | 'choices'> {
  readonly approvers: string;
  readonly choices: string | null;
}

/** A stored question with its sequence number, which is the cursor for the next page. */
export type ListedRow = ApprovalRow & { readonly seq: number };

const Choices = z.array(z.string());

/** Converts a stored question to the type used outside the store. */
export function readApprovalRow({ approvers, choices, ...row }: ApprovalRow): Approval {
  return {
    ...row,
    approvers: approvers === '' ? [] : approvers.split('\n'),
    choices: choices === null ? null : decodeCheckedJson(Choices, choices, 'choices of a question'),
  };
}

/** The columns of an `ApprovalRow`. */
export const APPROVAL_COLUMNS = `code, conversation_id as "conversationId", turn_id as "turnId",
  call_key as "callKey", tool, shown, asked_by as "askedBy", place,
  coalesce(asked_in, conversation_id) as "askedIn", approvers, state, asked_at as "askedAt",
  expires_at as "expiresAt", decided_by as "decidedBy", decided_at as "decidedAt", result, rule,
  choices, answer`;
