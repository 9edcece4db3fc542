import { z } from 'zod';
import { fromCheckedJson } from './database.ts';

/**
 * The state of a question: `expired` not answered in time, `withdrawn` its turn was stopped,
 * `auto` allowed by the settings without a question, `answered` one of `ask_user`.
 */
type ApprovalState =
  | 'pending'
  | 'approved'
  | 'denied'
  | 'answered'
  | 'expired'
  | 'withdrawn'
  | 'auto';

/** A tool call that needs an approval (G05), or a question of `ask_user`. */
export interface NewApproval {
  /** The code that people type; never used twice. */
  readonly code: string;
  readonly turnId: string;
  /** The call in the journal of its turn. */
  readonly callKey: string;
  readonly tool: string;
  /** The arguments as people are shown them. */
  readonly shown: string;
  /** The author of the message that led to the call: `telegram:42`. */
  readonly askedBy: string;
  /** The place, for people: `telegram group -5`. */
  readonly place: string;
  /** The conversation in which the question is put: it is decided there, or by the owner on the page. */
  readonly askedIn: string;
  /** The people besides owners who may decide. */
  readonly approvers: readonly string[];
  /** From then on it counts as refused. In ms. */
  readonly expiresAt: number;
  /** The rule of `approvals.auto` that would allow exactly such calls for good; absent: there is none so narrow. */
  readonly rule?: string | null;
  /** Makes it a question: only `askedBy` answers it, with one of these or in other text. */
  readonly choices?: readonly string[] | null;
}

/** A question and its outcome. Times in ms. */
export interface Approval extends NewApproval {
  readonly rule: string | null;
  readonly choices: readonly string[] | null;
  /** The answer to the question; null: skipped. */
  readonly answer: string | null;
  readonly conversationId: string;
  readonly state: ApprovalState;
  readonly askedAt: number;
  /** The person; null where none decided. */
  readonly decidedBy: string | null;
  readonly decidedAt: number | null;
  /** The outcome of the call itself, once it was run. */
  readonly result: 'done' | 'failed' | null;
}

/** A stored question; its approvers have a line each. */
export interface ApprovalRow extends Omit<Approval, 'approvers' | 'choices'> {
  readonly approvers: string;
  readonly choices: string | null;
}

/** A stored question with its number, which lists continue behind. */
export type ListedRow = ApprovalRow & { readonly seq: number };

const Choices = z.array(z.string());

/** A stored question as the other packages know it. */
export function readApprovalRow({ approvers, choices, ...row }: ApprovalRow): Approval {
  return {
    ...row,
    approvers: approvers === '' ? [] : approvers.split('\n'),
    choices: choices === null ? null : fromCheckedJson(Choices, choices, 'choices of a question'),
  };
}

/** The columns that make an `ApprovalRow`. */
export const APPROVAL_COLUMNS = `code, conversation_id as "conversationId", turn_id as "turnId",
  call_key as "callKey", tool, shown, asked_by as "askedBy", place,
  coalesce(asked_in, conversation_id) as "askedIn", approvers, state, asked_at as "askedAt",
  expires_at as "expiresAt", decided_by as "decidedBy", decided_at as "decidedAt", result, rule,
  choices, answer`;
