import { HEARTBEAT_LANE, SUB_AGENT_LANE } from './conversations.ts';
import { type Database, type Sql, statement } from './database.ts';
import type { ChatKey, PartState } from './outbox-parts.ts';
import { dropDeadLetter, replayDeadLetter } from './replay-dead-letter.ts';

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

/** How and when (ms) an operator settled a dead letter. It is kept, but no longer listed. */
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
  /** What the turn had done before it failed, in steps; tools may do it again. */
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

/**
 * The outcome of a replay. `wake`: the lane or chat that has work. `uncertain`: nothing was done, since
 * it may arrive twice. `settled`: that was done, or it was dropped.
 */
export type DeadLetterReplay =
  | { readonly kind: 'replayed'; readonly wake: DeadLetterWake }
  | { readonly kind: 'uncertain' | 'settled' | 'missing' };

/** The outcome of `/resend`. `settled`: it was sent again before, or dropped; `others`: it answers another person. */
export type Resend = 'resent' | 'settled' | 'others' | 'none';

/** The chat whose deliveries have work again, or the conversation. */
export type DeadLetterWake =
  | { readonly kind: 'chat'; readonly chat: ChatKey }
  | { readonly kind: 'conversation'; readonly conversationId: string };

/** Dead letters older than `before`, at most `limit`. */
export interface DeadLetterPage {
  readonly before?: number | undefined;
  readonly limit: number;
}

/** Dead letters, table `dead_letter`. Written in the transaction that gives up; operators settle them. */
export function deadLetterRepository(database: Database) {
  const looking = () => import('./read-dead-letters.ts');
  return {
    /** The newest `limit` open dead letters older than `before`, newest first. */
    async open(page: DeadLetterPage) {
      const { openDeadLetters } = await looking();
      return database.read((sql) => openDeadLetters(sql, page));
    },
    /** The oldest `limit` open ones of these kinds, newer than `after`, oldest first. */
    async openIds(kinds: readonly DeadLetter['kind'][], after: number, limit: number) {
      const { openIds } = await looking();
      return database.read((sql) => openIds(sql, kinds, after, limit));
    },
    /** One dead letter, open or settled. */
    async get(id: number) {
      const { oneDeadLetter } = await looking();
      return database.read((sql) => oneDeadLetter(sql, id));
    },
    /** Open ones by kind. */
    async counts() {
      const { countOpen } = await looking();
      return database.read(countOpen);
    },
    /**
     * Tries it again. A part is queued behind the other parts of its chat, under its old key, so that a platform
     * with idempotency keys recognizes it. A part that may have arrived needs `even-twice`: a person accepts
     * that it may arrive twice. Messages without an answer wait in their old place for a new turn, and the
     * history forgets that they were asked before.
     */
    replay: (id: number, how: 'once' | 'even-twice', now: number) =>
      database.write((sql) => replayDeadLetter(sql, { id, how, now })),
    /** Settles it and does nothing else: it stays failed. */
    drop: (id: number, now: number) => database.write((sql) => dropDeadLetter(sql, id, now)),
  };
}

// A repeated call, after the answer of the first was lost, adds no second dead letter.
const RECORD = statement(`
  insert into dead_letter (kind, subject, died_at) values (:kind, :subject, :now)
  on conflict do nothing`);

/** A notice about another part is no dead letter. */
const RECORD_PART = statement(`
  insert into dead_letter (kind, subject, died_at)
  select :kind, id, :now from outbox where id = :partId and notice_of is null
  on conflict do nothing`);

/** Notes a part that is given up, in that transaction. */
export function recordDeadPart(
  sql: Sql,
  partId: string,
  state: 'failed' | 'unknown',
  now: number,
): void {
  sql.send(RECORD_PART, { partId, kind: state === 'failed' ? 'refused' : 'uncertain', now });
}

/** Notes a turn that fails, in that transaction, unless no person waits for its answer. */
export function recordDeadTurn(
  sql: Sql,
  conversationId: string,
  turnId: string,
  now: number,
): void {
  const lanes = [SUB_AGENT_LANE, HEARTBEAT_LANE];
  if (lanes.some((lane) => conversationId.startsWith(lane))) return;
  sql.send(RECORD, { kind: 'unanswered', subject: turnId, now });
}
