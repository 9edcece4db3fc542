import type { ChatKey } from './conversations.ts';
import { statement } from './database.ts';
import type { PartState } from './outbox-parts.ts';
import type { Row } from './tables.ts';

/**
 * Work that was given up (D06):
 * - `refused`: a part that the platform refused for good, or that failed as often as it may;
 * - `uncertain`: a part that may or may not have arrived;
 * - `unanswered`: a turn with people that failed, so that its messages have no answer. That includes a turn
 *   that was started as often as it may be and never ended.
 *
 * Nothing else can be lost: an accepted message waits, or has a turn. Left out are notices about a lost part,
 * which has its own dead letter, sub-agents, whose failure the agent gets, and runs of standing tasks.
 */
export type DeadLetter = DeadPart | DeadTurn;

/** An operator's decision about a dead letter, and its time (ms). It is kept, but no longer listed. */
export interface SettledDeadLetter {
  readonly how: 'replayed' | 'dropped';
  readonly at: number;
}

interface DeadLetterBase {
  /** Never reused: work that fails again is a new dead letter, so a repeated order does nothing twice. */
  readonly id: number;
  /** In ms. */
  readonly diedAt: number;
  /** Why it was given up; null where it is no longer known. */
  readonly reason: string | null;
  readonly settled: SettledDeadLetter | null;
}

/** A part of an answer or of another message. */
export interface DeadPart extends DeadLetterBase {
  readonly kind: 'refused' | 'uncertain';
  readonly partId: string;
  readonly chat: ChatKey;
  /** The conversation that it answers; null: it is no part of an answer. */
  readonly conversationId: string | null;
  /** The turn whose answer it is part of, and which part. */
  readonly turnId: string | null;
  readonly index: number | null;
  /** Without markup. Private: for operators alone. */
  readonly text: string;
  /** The name of its file. */
  readonly file: string | null;
  /** As it is now. */
  readonly state: PartState;
}

/** Messages without an answer. */
export interface DeadTurn extends DeadLetterBase {
  readonly kind: 'unanswered';
  readonly turnId: string;
  readonly conversationId: string;
  /** Oldest first; none once they are asked again. Their text is private: for operators alone. */
  readonly messages: readonly UnansweredMessage[];
  /** The number of steps of the turn before it failed; tools may do it again. */
  readonly steps: number;
}

/** A message of a person. `at` is when it was received, in ms. */
export interface UnansweredMessage {
  readonly messageId: string;
  readonly chat: ChatKey;
  readonly from: string;
  readonly text: string;
  readonly at: number;
}

/** Dead letters older than `before`, at most `limit`. */
export interface DeadLetterPage {
  readonly before?: number | undefined;
  readonly limit: number;
}

/** A dead letter; `subject` is the id of a part or of a turn. */
export interface DeadLetterRow extends Omit<Row<'dead_letter'>, 'kind' | 'settled'> {
  readonly kind: DeadLetter['kind'];
  readonly settled: SettledDeadLetter['how'] | null;
}

/** One dead letter, open or settled. */
export const DEAD_LETTER = statement(
  'select * from dead_letter where seq = :id',
).rows<DeadLetterRow>();
