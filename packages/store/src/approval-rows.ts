import { z } from 'zod';
import { decodeCheckedJson } from './database.ts';

/**
 * `expired`: nobody decided in time. `withdrawn`: the turn that asked was stopped. `auto`: the
 * settings allowed the call without asking. `answered`: a person answered a question from
 * `ask_user`.
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
  /** The code that people type to approve or deny; codes are never reused. */
  readonly code: string;
  readonly turnId: string;
  /** Identifies the tool call in the turn's journal. */
  readonly callKey: string;
  readonly tool: string;
  /** The tool call's arguments as shown to users. */
  readonly shown: string;
  /** The author of the message that caused the tool call: `telegram:42`. */
  readonly askedBy: string;
  /** The chat as shown to users: `telegram group -5`. */
  readonly place: string;
  /**
   * The conversation in which the question is asked and answered; an owner can also answer on the
   * page.
   */
  readonly askedIn: string;
  /** The people who may decide in addition to owners. */
  readonly approvers: readonly string[];
  /** When an undecided approval counts as denied, in ms. */
  readonly expiresAt: number;
  /**
   * The narrowest rule for `approvals.auto` that would always allow this kind of call; absent if no
   * rule is narrow enough.
   */
  readonly rule?: string | null;
  /**
   * Turns the approval into a question: only `askedBy` may answer, with one of these choices or
   * with free text.
   */
  readonly choices?: readonly string[] | null;
}

/** An approval or question with its outcome. Times are in ms. */
export interface Approval extends NewApproval {
  readonly rule: string | null;
  readonly choices: readonly string[] | null;
  /** The answer to the question; null if it was skipped. */
  readonly answer: string | null;
  readonly conversationId: string;
  readonly state: ApprovalState;
  readonly askedAt: number;
  /** The person who decided; null if the approval was not decided by a person. */
  readonly decidedBy: string | null;
  readonly decidedAt: number | null;
  /** The outcome of the approved tool call, once it has run. */
  readonly result: 'done' | 'failed' | null;
}

/** A row in the `approval` table; its approvers are separated by newlines. */
export interface ApprovalRow extends Omit<Approval, 'approvers' | 'choices'> {
  readonly approvers: string;
  readonly choices: string | null;
}

/** An approval row with its sequence number, the cursor for the next page. */
export type NumberedApprovalRow = ApprovalRow & { readonly seq: number };

const Choices = z.array(z.string());

/** Converts an approval row to the type used outside the store. */
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
