import { z } from 'zod';
import { type Database, fromCheckedJson, fromJson, statement, toJson } from './database.ts';
import { SHARED_NOW, type SharedClock } from './shared-clock.ts';

/** The place of a pin: one session of one conversation. */
export interface SnapshotKey {
  readonly conversationId: string;
  readonly session: number;
}

/**
 * Values that stay what they were for the rest of a session (S07): the table `session_snapshot`, written by turns alone.
 * Nearly every call finds its pin, so reading comes first and takes no write lock.
 */
export function pinRepository(database: Database) {
  return {
    /**
     * The value under `key`: what was pinned first, or `content` if nothing was. `content` must survive
     * JSON. Pins of earlier sessions of the conversation are removed on the way.
     */
    async fix(place: SnapshotKey, key: string, content: unknown, now: number): Promise<unknown> {
      const pinned = await database.read((sql) => sql.get(PINNED, { ...place, key }));
      if (pinned !== undefined) return fromJson(pinned.content);
      return database.write(async (sql) => {
        sql.send(FORGET_EARLIER, place);
        sql.send(PIN, { ...place, key, content: toJson(content), now });
        const first = await sql.get(PINNED, { ...place, key });
        return first === undefined ? content : fromJson(first.content);
      });
    },
  };
}

const PINNED = statement(`
  select content from session_snapshot
  where conversation_id = :conversationId and session = :session and snapshot_key = :key`).rows<{
  readonly content: string;
}>();

const FORGET_EARLIER = statement(
  'delete from session_snapshot where conversation_id = :conversationId and session < :session',
);

const PIN = statement(`
  insert into session_snapshot (conversation_id, session, snapshot_key, content, taken_at)
  values (:conversationId, :session, :key, :content, :now)
  on conflict (conversation_id, session, snapshot_key) do nothing`);

/** The people of summaries: owners and other people have separate ones. */
export interface SummaryKey extends SnapshotKey {
  /** Kind of the reader. */
  readonly reader: string;
}

/** One summary that is to be written, or was. */
export interface SummaryTask extends SummaryKey {
  /** `history`: of a session from its beginning. `day`: of one day of it. */
  readonly kind: 'history' | 'day';
  /** The mark that makes it unique: where the one before ends, or the date. */
  readonly mark: string;
}

/** A summary that was written; `content` is for its writer to understand. */
export interface StoredSummary {
  readonly content: unknown;
  /** `seq` of the last transcript entry that is in it. */
  readonly reaches: number;
}

/** The exclusive right to write a summary, and for how long. */
interface SummaryClaim {
  readonly by: string;
  /** Stored with the summary (ms since 1970). */
  readonly now: number;
  readonly claimMs: number;
  /** Also one that failed a short while ago. */
  readonly impatient: boolean;
}

/**
 * Summaries of what was said. Each is written once and never changed, but where a person wants something
 * forgotten; a longer one is a further row. The unique key of the table `summary` decides who writes one; no look
 * beforehand does.
 */
export function summaryRepository(database: Database, sharedClock: SharedClock) {
  return {
    /** The summary of a session that reaches furthest, null when there is none. */
    async latest(place: SummaryKey): Promise<StoredSummary | null> {
      return toStoredSummary(await database.read((sql) => sql.get(LATEST, place)));
    },
    /** The summary of one day, null when there is none. */
    async ofDay(place: SummaryKey, day: string): Promise<StoredSummary | null> {
      return toStoredSummary(await database.read((sql) => sql.get(OF_DAY, { ...place, day })));
    },
    /**
     * Takes the writing of a summary; true for one caller, until its claim runs out. False when it is
     * written already.
     */
    async claim(task: SummaryTask, claim: SummaryClaim): Promise<boolean> {
      const impatient = claim.impatient ? 1 : 0;
      const params = { ...task, ...claim, impatient, moment: sharedClock() };
      return (await database.change('power-cut', CLAIM, params)) > 0;
    },
    /** Stores what was claimed; false when the claim was lost, and nothing is stored. */
    async finish(task: SummaryTask, by: string, summary: StoredSummary): Promise<boolean> {
      const params = { ...task, ...summary, by, content: toJson(summary.content) };
      return (await database.change('power-cut', FINISH, params)) > 0;
    },
    /** Releases a claim; unless it is impatient, no process tries again within `pauseMs`. */
    async postpone(task: SummaryTask, by: string, pauseMs: number): Promise<void> {
      await database.change('power-cut', POSTPONE, {
        ...task,
        by,
        pauseMs,
        moment: sharedClock(),
      });
    },
    /** Releases all claims, for a process that knows that no other one runs. */
    async releaseAll(): Promise<void> {
      await database.change('power-cut', RELEASE_ALL);
    },
  };
}

interface Written {
  readonly content: string;
  readonly reaches: number | null;
}

function toStoredSummary(row: Written | undefined): StoredSummary | null {
  if (row === undefined || row.reaches === null) return null;
  return { content: fromJson(row.content), reaches: row.reaches };
}

const PLACE = 'conversation_id = :conversationId and session = :session and reader = :reader';

const LATEST = statement(`
  select content, last_seq as reaches from summary
  where ${PLACE} and content is not null and kind = 'history' order by last_seq desc limit 1`).rows<Written>();

const OF_DAY = statement(`
  select content, last_seq as reaches from summary
  where ${PLACE} and content is not null and kind = 'day' and mark = :day`).rows<Written>();

/** Claims and pauses are shorter; one that ends later than this from now is from before the clock was set back. */
const MAX_CLAIM_MS = 30 * 60_000;

const CLAIM = statement(`
  insert into summary (conversation_id, session, reader, kind, mark, claimed_by, claimed_until, created_at)
  values (:conversationId, :session, :reader, :kind, :mark, :by, ${SHARED_NOW} + :claimMs, :now)
  on conflict (conversation_id, session, reader, kind, mark) do update
    set claimed_by = excluded.claimed_by, claimed_until = excluded.claimed_until
    where summary.content is null and (summary.claimed_until <= ${SHARED_NOW}
      or summary.claimed_until > ${SHARED_NOW} + ${MAX_CLAIM_MS}
      or (:impatient = 1 and summary.claimed_by is null))`);

const MINE = `where ${PLACE} and kind = :kind and mark = :mark and content is null and claimed_by = :by`;

const FINISH = statement(
  `update summary set content = :content, last_seq = :reaches, claimed_by = null ${MINE}`,
);

const POSTPONE = statement(
  `update summary set claimed_by = null, claimed_until = ${SHARED_NOW} + :pauseMs ${MINE}`,
);

const RELEASE_ALL = statement(
  'update summary set claimed_by = null, claimed_until = 0 where claimed_by is not null',
);

/** One item of a list. */
export type TodoItem = Readonly<z.infer<typeof TodoItem>>;

export const TodoItem = z.object({ text: z.string(), state: z.enum(['open', 'doing', 'done']) });

const Items = z.array(TodoItem);

/** The to-dos of sessions (G12), table `todo_list`; a conversation has one list, that of its newest session. */
export type TodoRepository = ReturnType<typeof todoRepository>;

/** The table `todo_list`. */
export function todoRepository(database: Database) {
  const items = (row: { readonly content: string } | undefined): readonly TodoItem[] =>
    row === undefined ? [] : fromCheckedJson(Items, row.content, 'list of to-dos');
  return {
    /** Puts `items` in the place of what was there. An earlier session does not replace a later one's. */
    async replace(place: SnapshotKey, items: readonly TodoItem[], now: number): Promise<void> {
      await database.change('power-cut', REPLACE, { ...place, content: toJson(items), now });
    },
    /** The list of that session, empty where it has none. */
    of: async (place: SnapshotKey) =>
      items(await database.read((sql) => sql.get(OF_SESSION, place))),
    /** That of the session a conversation is in now; empty where it has none. */
    now: async (conversationId: string) =>
      items(await database.read((sql) => sql.get(NOW, { conversationId }))),
  };
}

const REPLACE = statement(`
  insert into todo_list (conversation_id, session, content, written_at)
  values (:conversationId, :session, :content, :now)
  on conflict (conversation_id) do update
    set session = excluded.session, content = excluded.content, written_at = excluded.written_at
    where todo_list.session <= excluded.session`);

const OF_SESSION = statement(
  'select content from todo_list where conversation_id = :conversationId and session = :session',
).rows<{ readonly content: string }>();

const NOW = statement(`
  select content from todo_list join conversation on conversation.id = todo_list.conversation_id
  where conversation_id = :conversationId and todo_list.session = conversation.session`).rows<{
  readonly content: string;
}>();
