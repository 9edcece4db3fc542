import { HEARTBEAT_LANE, SUB_AGENT_LANE } from './conversations.ts';
import type { Database, Sql } from './database.ts';
import type { ChatKey, PartState } from './outbox-parts.ts';
import { dropLetter, replayLetter } from './replay-dead-letter.ts';
import { statement } from './statement.ts';

/**
 * Something that was owed to somebody and was given up (D06):
 * - `refused`: a part that the platform refused for good, or that failed as often as it may;
 * - `uncertain`: a part of which nobody knows whether it arrived;
 * - `unanswered`: a turn with people that failed, so that its messages have no answer. That includes a turn
 *   that was begun as often as it may be and never ended.
 *
 * There is no more: a message that was accepted waits, or has a turn. Notices about a lost part are left out,
 * for the letter says it already; so are sub-agents, whose failure the agent is told, and runs of standing tasks.
 */
export type DeadLetter = DeadPart | DeadTurn;

/** How an operator settled a letter, and when (ms). It is not listed any more, but kept. */
export interface SettledLetter {
  readonly how: 'replayed' | 'dropped';
  readonly at: number;
}

interface Letter {
  /** Never used again: what dies once more is a new letter. So a repeated wish can do nothing twice. */
  readonly id: number;
  /** In ms. */
  readonly diedAt: number;
  /** Why it was given up; null where that is not known any more. */
  readonly reason: string | null;
  readonly settled: SettledLetter | null;
}

/** A part of an answer, or of a message to somebody. */
export interface DeadPart extends Letter {
  readonly kind: 'refused' | 'uncertain';
  readonly partId: string;
  readonly chat: ChatKey;
  /** The turn whose answer it is part of, and which part. */
  readonly turnId: string | null;
  readonly index: number | null;
  /** Without markup. Private: for operators alone. */
  readonly text: string;
  /** The name of the file that was to come with it. */
  readonly file: string | null;
  /** As it is now. */
  readonly state: PartState;
}

/** Messages without an answer. */
export interface DeadTurn extends Letter {
  readonly kind: 'unanswered';
  readonly turnId: string;
  readonly conversationId: string;
  /** Oldest first; none once they are asked again. Their text is private: for operators alone. */
  readonly messages: readonly UnansweredMessage[];
  /** What the turn had done before it failed, in steps; tools may do it again. */
  readonly steps: number;
}

/** What somebody wrote. `at` is when it was received, in ms. */
export interface UnansweredMessage {
  readonly messageId: string;
  readonly chat: ChatKey;
  readonly from: string;
  readonly text: string;
  readonly at: number;
}

/**
 * What came of a replay. `wake`: who has to be told that there is work. `uncertain`: nothing was done, since
 * it may arrive twice. `settled`: somebody did, or it was dropped.
 */
export type LetterReplay =
  | { readonly kind: 'replayed'; readonly wake: LetterWake }
  | { readonly kind: 'uncertain' | 'settled' | 'missing' };

/** What came of `/resend`. `settled`: it was sent again before, or dropped; `others`: it answers somebody else. */
export type Resend = 'resent' | 'settled' | 'others' | 'none';

/** The chat whose deliveries have work again, or the conversation. */
export type LetterWake =
  | { readonly kind: 'chat'; readonly chat: ChatKey }
  | { readonly kind: 'conversation'; readonly conversationId: string };

/** Letters older than `before`, at most `limit`. */
export interface LetterPage {
  readonly before?: number | undefined;
  readonly limit: number;
}

/** Dead letters, table `dead_letter`. What gives up writes them, in its transaction; operators settle them. */
export function deadLetterRepository(database: Database) {
  const looking = () => import('./read-dead-letters.ts');
  return {
    /** The newest `limit` letters that nobody has settled, older than the letter `before`; newest first. */
    async open(page: LetterPage) {
      const { openLetters } = await looking();
      return database.read((sql) => openLetters(sql, page));
    },
    /** The oldest `limit` of these kinds that nobody has settled, newer than `after`, oldest first. */
    async openIds(kinds: readonly DeadLetter['kind'][], after: number, limit: number) {
      const { openIds } = await looking();
      return database.read((sql) => openIds(sql, kinds, after, limit));
    },
    /** One letter, also when it is settled. */
    async get(id: number) {
      const { oneLetter } = await looking();
      return database.read((sql) => oneLetter(sql, id));
    },
    /** How many nobody has settled. */
    async counts() {
      const { countOpen } = await looking();
      return database.read(countOpen);
    },
    /**
     * Has it done again. A part joins the end of what its chat is owed, under its old key, so that a platform
     * that keeps keys recognises it; parts keep their order only among those replayed in their order. One that
     * may have arrived needs `even-twice`: a person's word that it may come twice. Messages without an answer
     * wait in their old place for a new turn, and the history forgets that they were asked before.
     */
    replay: (id: number, how: 'once' | 'even-twice', now: number) =>
      database.write((sql) => replayLetter(sql, { id, how, now })),
    /** Settles it without doing anything: it stays failed. */
    drop: (id: number, now: number) => database.write((sql) => dropLetter(sql, id, now)),
  };
}

// Told twice, because the answer of a first call was lost, it is one letter.
const RECORD = statement(`
  insert into dead_letter (kind, subject, died_at) values (:kind, :subject, :now)
  on conflict do nothing`);

/** A notice about another part is no letter. */
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
