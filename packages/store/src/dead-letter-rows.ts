import type { ChatKey } from './conversations.ts';
import { defineStatement } from './database.ts';
import type { PartState } from './outbox-parts.ts';
import type { Row } from './tables.ts';

/**
 * Work that was given up (D06).
 * - `refused`: a part that the platform permanently refused, or that failed on its last attempt;
 * - `uncertain`: a part that may or may not have arrived;
 * - `unanswered`: a failed turn with people, whose messages were therefore not answered.
 *   `unanswered` includes a turn that used up its attempts without ever ending.
 *
 * There is no other way to lose work: an accepted message either waits or has a turn. Three kinds
 * of work do not get a dead letter: notices about a lost part (the part gets one), sub-agents (the
 * agent is told about their failure), and runs of standing tasks.
 */
export type DeadLetter = DeadPart | DeadTurn;

/**
 * An operator's decision about a dead letter, and the time of the decision (ms). A settled dead
 * letter is kept but no longer listed.
 */
export interface SettledDeadLetter {
  readonly how: 'replayed' | 'dropped';
  readonly at: number;
}

interface DeadLetterBase {
  /**
   * Numbers are never reused: work that fails again becomes a new dead letter, so repeating a
   * command has no effect.
   */
  readonly id: number;
  /** When the work was given up, in ms. */
  readonly diedAt: number;
  /** Why the work was given up; null if the reason is no longer stored. */
  readonly reason: string | null;
  readonly settled: SettledDeadLetter | null;
}

/** A dead letter about a part of an answer or of another message. */
export interface DeadPart extends DeadLetterBase {
  readonly kind: 'refused' | 'uncertain';
  readonly partId: string;
  readonly chat: ChatKey;
  /** The conversation that the part answers; null if the part does not belong to an answer. */
  readonly conversationId: string | null;
  /** The turn whose answer contains the part, which is at position `index` in that answer. */
  readonly turnId: string | null;
  readonly index: number | null;
  /** The part's text without markup, private to operators. */
  readonly text: string;
  /** The name of the part's file. */
  readonly file: string | null;
  /** The part's current delivery state. */
  readonly state: PartState;
}

/** A dead letter about unanswered messages. */
export interface DeadTurn extends DeadLetterBase {
  readonly kind: 'unanswered';
  readonly turnId: string;
  readonly conversationId: string;
  /**
   * The messages, oldest first; empty once they have been replayed. The text is private to
   * operators.
   */
  readonly messages: readonly UnansweredMessage[];
  /**
   * The number of steps that the turn completed before it failed. A replay may run the tools of
   * these steps again.
   */
  readonly steps: number;
}

/** A person's message that was not answered. `at` is the time of receipt, in ms. */
export interface UnansweredMessage {
  readonly messageId: string;
  readonly chat: ChatKey;
  readonly from: string;
  readonly text: string;
  readonly at: number;
}

/** Limits a page to at most `limit` dead letters older than `before`. */
export interface DeadLetterPage {
  readonly before?: number | undefined;
  readonly limit: number;
}

/** A dead letter; `subject` is the id of a part or a turn. */
export interface DeadLetterRow extends Omit<Row<'dead_letter'>, 'kind' | 'settled'> {
  readonly kind: DeadLetter['kind'];
  readonly settled: SettledDeadLetter['how'] | null;
}

/** Reads one dead letter, open or settled. */
export const DEAD_LETTER = defineStatement(
  'select * from dead_letter where seq = :id',
).rows<DeadLetterRow>();
