import type { MessageKey } from './conversations.ts';
import { OF_CHAT } from './conversations.ts';
import { type Database, defineStatement, type Sql } from './database.ts';
import { OUTBOX_COLUMNS, type PartRow, type PartState, readPart } from './outbox-parts.ts';
import type { InboxOutcome } from './rows.ts';

/** The outcome of a message, for a program that waits for its answer. */
export interface MessageAnswer {
  /** Null while the message waits or its turn is running. */
  readonly outcome: InboxOutcome | null;
  /** Null until a turn has started. */
  readonly turnId: string | null;
  /**
   * Whether the turn waits for a person; `parts` then contains the questions and notices that were
   * sent to the chat after the message.
   */
  readonly isSuspended: boolean;
  /** The tokens that the turn has used so far. */
  readonly usage: AnswerUsage;
  readonly parts: readonly AnswerPart[];
  /** Set for a command: the message in its chat whose turn is unfinished, if there is one. */
  readonly pending: string | null;
}

/**
 * A part of an answer; `at` is when it was put into the outbox, in ms. `isSent`: the part was
 * passed to its adapter or given up.
 */
export interface AnswerPart {
  readonly text: string;
  readonly at: number;
  readonly isSent: boolean;
}

export interface AnswerUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
}

/** Reads the answers to messages from the `inbox`, `turn` and `outbox` tables. */
export function createMessageAnswerRepository(database: Database) {
  return {
    /** Returns null if the message is not stored. */
    of: (key: MessageKey): Promise<MessageAnswer | null> =>
      database.read(async (sql) => {
        const row = await sql.get(MESSAGE, key);
        if (row === undefined) return null;
        const { outcome, awaits, inputTokens, outputTokens, cachedTokens } = row;
        const isSuspended = outcome === null && awaits !== null;
        const parts = await readAnswerParts(sql, key, row, isSuspended);
        const pending =
          outcome === 'command' ? ((await sql.get(PENDING, key))?.messageId ?? null) : null;
        return {
          outcome,
          turnId: row.turnId,
          isSuspended,
          usage: {
            inputTokens: inputTokens ?? 0,
            outputTokens: outputTokens ?? 0,
            cachedTokens: cachedTokens ?? 0,
          },
          parts: parts.map((part) => ({
            text: readPart(part).body.text,
            at: part.at,
            isSent: part.state !== 'pending',
          })),
          pending,
        };
      }),
  };
}

interface AnsweredRow {
  readonly seq: number;
  readonly outcome: InboxOutcome | null;
  readonly receivedAt: number;
  readonly turnId: string | null;
  readonly awaits: string | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cachedTokens: number | null;
}

const MESSAGE = defineStatement(`
  select inbox.seq, inbox.outcome, inbox.received_at as "receivedAt", inbox.turn_id as "turnId",
    turn.awaits, turn.input_tokens as "inputTokens", turn.output_tokens as "outputTokens",
    turn.cached_tokens as "cachedTokens"
  from inbox left join turn on turn.id = inbox.turn_id
  where ${OF_CHAT} and message_id = :messageId`).rows<AnsweredRow>();

const PENDING = defineStatement(`
  select message_id as "messageId" from inbox
  where ${OF_CHAT} and state = 'claimed' and turn_id is not null order by seq desc limit 1`).rows<{
  readonly messageId: string;
}>();

type PartStateRow = PartRow & { readonly state: PartState; readonly at: number };

const OF_TURN = defineStatement(`
  select ${OUTBOX_COLUMNS}, state, created_at as at from outbox
  where turn_id = :turnId and part_index is not null order by part_index`).rows<PartStateRow>();

const OF_COMMAND = defineStatement(`
  select ${OUTBOX_COLUMNS}, state, created_at as at from outbox where answers = :seq order by seq`).rows<PartStateRow>();

/** Questions do not belong to a turn, so they are not part of the turn's answer. */
const SINCE = defineStatement(`
  select ${OUTBOX_COLUMNS}, state, created_at as at from outbox
  where ${OF_CHAT} and turn_id is null and answers is null and created_at >= :since
  order by seq`).rows<PartStateRow>();

function readAnswerParts(
  sql: Sql,
  key: MessageKey,
  { seq, outcome, turnId, receivedAt: since }: AnsweredRow,
  isSuspended: boolean,
): Promise<readonly PartStateRow[]> {
  if (isSuspended) return sql.all(SINCE, { ...key, since });
  if (turnId !== null && outcome !== null) return sql.all(OF_TURN, { turnId });
  return sql.all(OF_COMMAND, { seq });
}
