import type { ChatKey } from './conversations.ts';
import { defineStatement } from './database.ts';
import type { PartState } from './outbox-parts.ts';
import type { Row } from './tables.ts';

/**
 * Work that was given up (D06):
 * - `refused`: a part that the platform permanently refused, or that failed on its last attempt;
 * - `uncertain`: a part that may or may not have arrived;
 * - `unanswered`: a failed turn with people, whose messages therefore have no answer. This includes a
 *   turn that used up its attempts without ever ending.
 *
 * Nothing else can be lost: an accepted message either waits or has a turn. Three things are left out:
 * notices about a lost part, which has its own dead letter; sub-agents, whose failure is reported to the
 * agent; and runs of standing tasks.
 */
export type DeadLetter = DeadPart | DeadTurn;

/**
 * An operator's decision about a dead letter, and when it was made (ms). A settled dead letter is
 * kept but no longer listed.
 */
export interface SettledDeadLetter {
  readonly how: 'replayed' | 'dropped';
  readonly at: number;
}

interface DeadLetterBase {
  /**
   * Never reused: work that fails again becomes a new dead letter, so repeating a command has no
   * effect.
   */
  readonly id: number;
  /** In ms. */
  readonly diedAt: number;
  /** Why it was given up; null if no longer known. */
  readonly reason: string | null;
  readonly settled: SettledDeadLetter | null;
}

/** A part of an answer or of another message. */
export interface DeadPart extends DeadLetterBase {
  readonly kind: 'refused' | 'uncertain';
  readonly partId: string;
  readonly chat: ChatKey;
  /** The conversation that it answers; null if it does not belong to an answer. */
  readonly conversationId: string | null;
  /** The turn whose answer it belongs to; `index` is its position in that answer. */
  readonly turnId: string | null;
  readonly index: number | null;
  /** Without markup. Private: for operators only. */
  readonly text: string;
  /** Its file name. */
  readonly file: string | null;
  /** Its current state. */
  readonly state: PartState;
}

/** Messages that were not answered. */
export interface DeadTurn extends DeadLetterBase {
  readonly kind: 'unanswered';
  readonly turnId: string;
  readonly conversationId: string;
  /**
   * Oldest first; empty once they have been replayed. Their text is private: for operators only.
   */
  readonly messages: readonly UnansweredMessage[];
  /** How many steps the turn completed before it failed. A replay may run its tools again. */
  readonly steps: number;
}

/** A person's message. `at` is when it was received, in ms. */
export interface UnansweredMessage {
  readonly messageId: string;
  readonly chat: ChatKey;
  readonly from: string;
  readonly text: string;
  readonly at: number;
}

/** A page of at most `limit` dead letters older than `before`. */
export interface DeadLetterPage {
  readonly before?: number | undefined;
  readonly limit: number;
}

/** A dead letter; `subject` is the id of a part or a turn. */
export interface DeadLetterRow extends Omit<Row<'dead_letter'>, 'kind' | 'settled'> {
  readonly kind: DeadLetter['kind'];
  readonly settled: SettledDeadLetter['how'] | null;
}

/** One dead letter, open or settled. */
export const DEAD_LETTER = defineStatement(
  'select * from dead_letter where seq = :id',
).rows<DeadLetterRow>();
