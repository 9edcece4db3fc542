import { type Database, decodeJson, defineStatement } from './database.ts';
import { type EntryRow, SESSION_ENTRIES, toNumberedEntry } from './history.ts';
import type { NumberedEntry } from './remembered-history.ts';
import {
  INBOX_COLUMNS,
  type InboxRow,
  type JournalStep,
  type MessageRow,
  readInboxRow,
} from './rows.ts';
import type { StoredSummary, SummaryKey } from './sessions.ts';
import { readRuns } from './turn-runs.ts';

/** A step, and when it was started and stored, in ms. Old steps have no start. */
export interface RecordedStep extends Pick<JournalStep, 'index' | 'content'> {
  readonly startedAt: number | null;
  readonly storedAt: number;
}

/** What the database still knows of a turn, besides its prompt. */
export interface RecordedTurn {
  readonly turnId: string;
  readonly conversationId: string;
  readonly session: number;
  readonly state: string;
  /** The model that answered, as `provider/model`; null if none did. */
  readonly model: string | null;
  readonly finishedAt: number | null;
  /** When each run of the turn started, in ms; more than one if the turn was resumed. */
  readonly runs: readonly number[];
  /** All messages of the turn, including those that joined it. */
  readonly messages: readonly InboxRow[];
  readonly steps: readonly RecordedStep[];
  /** The turn's first entry in the history, which begins where the turn's own past ends. */
  readonly ownEntry: number | null;
  /** The conversation that receives the alerts; null unless the turn is a heartbeat run. */
  readonly target: string | null;
}

/** The history that a turn may have seen. */
export interface RecordedPast {
  /** The newest entries before the turn, oldest first. */
  readonly entries: readonly NumberedEntry[];
  /** The summaries that existed, the furthest-reaching one first. */
  readonly summaries: readonly StoredSummary[];
}

/** Where the past of a turn ends: before its own entries, and when its prompt was recorded (ms). */
export interface PastEnd {
  readonly before: number | null;
  readonly at: number;
}

/**
 * Reads finished turns as they were, to run them again (G22). It writes nothing, and the retention
 * of each table decides how long a turn can be read.
 */
export interface RecordedTurnRepository {
  /** Reads a turn; null if it is unknown or no longer kept. */
  ofTurn(turnId: string): Promise<RecordedTurn | null>;
  /** Reads the newest `limit` entries of a session before a turn, and its summaries. */
  past(place: SummaryKey, end: PastEnd, limit: number): Promise<RecordedPast>;
}

export function readRecordedTurn(database: Database, turnId: string): Promise<RecordedTurn | null> {
  return database.read(async (sql) => {
    const turn = await sql.get(TURN, { turnId });
    if (turn === undefined) return null;
    const { runs, ...row } = turn;
    const messages = await sql.all(MESSAGES, { turnId });
    return {
      ...row,
      runs: readRuns(runs).map(({ at }) => at),
      messages: messages.map(readInboxRow),
      steps: (await sql.all(STEPS, { turnId })).map((step) => ({
        ...step,
        content: decodeJson(step.content),
      })),
    };
  });
}

export function readRecordedPast(
  database: Database,
  place: SummaryKey,
  { before, at }: PastEnd,
  limit: number,
): Promise<RecordedPast> {
  return database.read(async (sql) => {
    const end = { ...place, at, before: before ?? Number.MAX_SAFE_INTEGER };
    const entries = await sql.all(ENTRIES, { ...end, limit });
    const summaries = await sql.all(SUMMARIES, end);
    return {
      entries: entries.reverse().map(toNumberedEntry),
      summaries: summaries.map(({ content, reaches }) => ({
        content: decodeJson(content),
        reaches,
      })),
    };
  });
}

const TURN = defineStatement(`
  select id as "turnId", conversation_id as "conversationId", session, state, model, runs,
    finished_at as "finishedAt",
    (select min(seq) from transcript where transcript.turn_id = turn.id) as "ownEntry",
    (select max(target) from heartbeat_run where heartbeat_run.turn_id = turn.id) as target
  from turn where id = :turnId`).rows<
  Pick<
    RecordedTurn,
    | 'turnId'
    | 'conversationId'
    | 'session'
    | 'state'
    | 'model'
    | 'finishedAt'
    | 'ownEntry'
    | 'target'
  > & { readonly runs: string | null }
>();

const MESSAGES = defineStatement(
  `select ${INBOX_COLUMNS} from inbox where turn_id = :turnId order by seq`,
).rows<MessageRow>();

const STEPS = defineStatement(`
  select step_index as "index", content, started_at as "startedAt", created_at as "storedAt"
  from turn_step where turn_id = :turnId order by step_index`).rows<
  Omit<RecordedStep, 'content'> & { readonly content: string }
>();

const ENTRIES = defineStatement(`
  ${SESSION_ENTRIES} and seq < :before and created_at <= :at
  order by seq desc limit :limit`).rows<EntryRow>();

const SUMMARIES = defineStatement(`
  select content, last_seq as reaches from summary
  where conversation_id = :conversationId and session = :session and reader = :reader and kind = 'history' and content is not null
    and last_seq < :before and created_at <= :at
  order by last_seq desc`).rows<{ readonly content: string; readonly reaches: number }>();
