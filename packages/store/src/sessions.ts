import { z } from 'zod';
import {
  type Database,
  decodeCheckedJson,
  decodeJson,
  defineStatement,
  encodeJson,
} from './database.ts';
import { SHARED_NOW, type SharedClock } from './shared-clock.ts';

/** Identifies a session within a conversation. */
export interface SnapshotKey {
  readonly conversationId: string;
  readonly session: number;
}

/**
 * Values that stay fixed for the rest of a session (S07), and its opened tool groups, stored in the
 * `session_snapshot` table, which only turns write. The value is nearly always there, so the first
 * read does not acquire a write lock.
 */
export function createPinRepository(database: Database) {
  return {
    /**
     * Returns the value under `key`: the value that was stored first, or `content` if none is
     * stored yet. `content` must be representable as JSON. The same call removes values from the
     * conversation's earlier sessions.
     */
    async fix(place: SnapshotKey, key: string, content: unknown, now: number): Promise<unknown> {
      const pinned = await database.read((sql) => sql.get(PINNED, { ...place, key }));
      if (pinned !== undefined) return decodeJson(pinned.content);
      return database.write(async (sql) => {
        sql.send(FORGET_EARLIER, place);
        sql.send(PIN, { ...place, key, content: encodeJson(content), now });
        const first = await sql.get(PINNED, { ...place, key });
        return first === undefined ? content : decodeJson(first.content);
      });
    },

    /**
     * Appends tool groups to those that the session has opened. Listed groups keep their places, so
     * the list only grows.
     */
    addOpenTools: (place: SnapshotKey, groups: readonly string[], now: number): Promise<void> =>
      database.write(async (sql) => {
        sql.send(FORGET_EARLIER, place);
        const stored = await sql.get(PINNED, { ...place, key: OPEN_TOOLS });
        const before = readOpenTools(stored?.content ?? null);
        const content = encodeJson([...new Set([...before, ...groups])]);
        sql.send(LIST_TOOLS, { ...place, key: OPEN_TOOLS, content, now });
      }),
  };
}

const PINNED = defineStatement(`
  select content from session_snapshot
  where conversation_id = :conversationId and session = :session and snapshot_key = :key`).rows<{
  readonly content: string;
}>();

const FORGET_EARLIER = defineStatement(
  'delete from session_snapshot where conversation_id = :conversationId and session < :session',
);

const PIN = defineStatement(`
  insert into session_snapshot (conversation_id, session, snapshot_key, content, taken_at)
  values (:conversationId, :session, :key, :content, :now)
  on conflict (conversation_id, session, snapshot_key) do nothing`);

/** The key under which a session's snapshot lists its opened tool groups. */
const OPEN_TOOLS = 'open-tools';

const ToolGroups = z.array(z.string());

/**
 * The opened tool groups of the current session, as a column of a statement that reads a
 * conversation. It costs a claim no statement of its own.
 */
export const OPEN_TOOLS_COLUMN = `(select content from session_snapshot
    where session_snapshot.conversation_id = conversation.id
      and session_snapshot.session = conversation.session
      and snapshot_key = '${OPEN_TOOLS}') as "openTools"`;

/** Decodes `OPEN_TOOLS_COLUMN`: the groups, in the order in which they were opened. */
export function readOpenTools(content: string | null): readonly string[] {
  return content === null ? [] : decodeCheckedJson(ToolGroups, content, 'list of open tool groups');
}

const LIST_TOOLS = defineStatement(`
  insert into session_snapshot (conversation_id, session, snapshot_key, content, taken_at)
  values (:conversationId, :session, :key, :content, :now)
  on conflict (conversation_id, session, snapshot_key) do update set content = excluded.content`);

/**
 * A session and the kind of people who read it: owners and other people have separate summaries.
 */
export interface SummaryKey extends SnapshotKey {
  readonly reader: string;
}

export interface SummaryTask extends SummaryKey {
  /** `history` covers a session from its start; `day` covers one day of a session. */
  readonly kind: 'history' | 'day';
  /**
   * Identifies the summary among those of the same kind: where the previous summary ends, or the
   * date.
   */
  readonly mark: string;
}

/** A written summary, whose `content` is interpreted only by its writer. */
export interface StoredSummary {
  readonly content: unknown;
  /** The `seq` of the last transcript entry that the summary covers. */
  readonly reaches: number;
}

/** A request for the exclusive right to write a summary, and how long that right lasts. */
interface SummaryClaim {
  readonly by: string;
  /** Stored with the summary (ms since the Unix epoch). */
  readonly now: number;
  readonly claimMs: number;
  /** Also claims a summary whose last attempt failed a short while ago. */
  readonly impatient: boolean;
}

/**
 * Conversation summaries. Each summary is written once and changed only to forget text; a longer
 * summary is a separate row. The unique key of the `summary` table decides which process writes a
 * summary, rather than a prior query.
 */
export function createSummaryRepository(database: Database, sharedClock: SharedClock) {
  return {
    /** Reads the session's summary that reaches furthest; null if there is none. */
    async latest(place: SummaryKey): Promise<StoredSummary | null> {
      return toStoredSummary(await database.read((sql) => sql.get(LATEST, place)));
    },
    /** Reads the summary of one day; null if there is none. */
    async ofDay(place: SummaryKey, day: string): Promise<StoredSummary | null> {
      return toStoredSummary(await database.read((sql) => sql.get(OF_DAY, { ...place, day })));
    },
    /**
     * Claims the right to write a summary. True for one caller until its claim expires; false if
     * the summary is already written.
     */
    async claim(task: SummaryTask, claim: SummaryClaim): Promise<boolean> {
      const impatient = claim.impatient ? 1 : 0;
      const params = { ...task, ...claim, impatient, moment: sharedClock() };
      return (await database.change('power-cut', CLAIM, params)) > 0;
    },
    /** Stores a claimed summary; false, without storing it, if the claim was lost. */
    async finish(task: SummaryTask, by: string, summary: StoredSummary): Promise<boolean> {
      const params = { ...task, ...summary, by, content: encodeJson(summary.content) };
      return (await database.change('power-cut', FINISH, params)) > 0;
    },
    /**
     * Releases a claim, so that no process tries again within `pauseMs`, except a process that must
     * not wait.
     */
    async postpone(task: SummaryTask, by: string, pauseMs: number): Promise<void> {
      await database.change('power-cut', POSTPONE, {
        ...task,
        by,
        pauseMs,
        moment: sharedClock(),
      });
    },
    /** Releases all claims; meant only for a process that runs alone. */
    async releaseAll(): Promise<void> {
      await database.change('power-cut', RELEASE_ALL);
    },
  };
}

interface CompletedSummaryRow {
  readonly content: string;
  readonly reaches: number | null;
}

function toStoredSummary(row: CompletedSummaryRow | undefined): StoredSummary | null {
  if (row === undefined || row.reaches === null) return null;
  return { content: decodeJson(row.content), reaches: row.reaches };
}

const PLACE = 'conversation_id = :conversationId and session = :session and reader = :reader';

const LATEST = defineStatement(`
  select content, last_seq as reaches from summary
  where ${PLACE} and content is not null and kind = 'history' order by last_seq desc limit 1`).rows<CompletedSummaryRow>();

const OF_DAY = defineStatement(`
  select content, last_seq as reaches from summary
  where ${PLACE} and content is not null and kind = 'day' and mark = :day`).rows<CompletedSummaryRow>();

/**
 * Longer than any claim or pause; a claim that ends later was made before the clock was set back.
 */
const MAX_CLAIM_MS = 30 * 60_000;

const CLAIM = defineStatement(`
  insert into summary (conversation_id, session, reader, kind, mark, claimed_by, claimed_until, created_at)
  values (:conversationId, :session, :reader, :kind, :mark, :by, ${SHARED_NOW} + :claimMs, :now)
  on conflict (conversation_id, session, reader, kind, mark) do update
    set claimed_by = excluded.claimed_by, claimed_until = excluded.claimed_until
    where summary.content is null and (summary.claimed_until <= ${SHARED_NOW}
      or summary.claimed_until > ${SHARED_NOW} + ${MAX_CLAIM_MS}
      or (:impatient = 1 and summary.claimed_by is null))`);

const MINE = `where ${PLACE} and kind = :kind and mark = :mark and content is null and claimed_by = :by`;

const FINISH = defineStatement(
  `update summary set content = :content, last_seq = :reaches, claimed_by = null ${MINE}`,
);

const POSTPONE = defineStatement(
  `update summary set claimed_by = null, claimed_until = ${SHARED_NOW} + :pauseMs ${MINE}`,
);

const RELEASE_ALL = defineStatement(
  'update summary set claimed_by = null, claimed_until = 0 where claimed_by is not null',
);

/** One item in a to-do list. */
export type TodoItem = Readonly<z.infer<typeof TodoItem>>;

export const TodoItem = z.object({ text: z.string(), state: z.enum(['open', 'doing', 'done']) });

const Items = z.array(TodoItem);

/**
 * The sessions' to-do lists (G12), stored in the `todo_list` table. A conversation has one to-do
 * list, which belongs to its newest session.
 */
export type TodoRepository = ReturnType<typeof createTodoRepository>;

export function createTodoRepository(database: Database) {
  const items = (row: { readonly content: string } | undefined): readonly TodoItem[] =>
    row === undefined ? [] : decodeCheckedJson(Items, row.content, 'list of to-dos');
  return {
    /**
     * Replaces the to-do list with `items`. An earlier session never replaces the list of a later
     * one.
     */
    async replace(place: SnapshotKey, items: readonly TodoItem[], now: number): Promise<void> {
      await database.change('power-cut', REPLACE, { ...place, content: encodeJson(items), now });
    },
    /** Reads the to-do list of one session; empty if it has none. */
    of: async (place: SnapshotKey) =>
      items(await database.read((sql) => sql.get(OF_SESSION, place))),
    /** Reads the to-do list of the conversation's current session; empty if it has none. */
    now: async (conversationId: string) =>
      items(await database.read((sql) => sql.get(NOW, { conversationId }))),
  };
}

const REPLACE = defineStatement(`
  insert into todo_list (conversation_id, session, content, written_at)
  values (:conversationId, :session, :content, :now)
  on conflict (conversation_id) do update
    set session = excluded.session, content = excluded.content, written_at = excluded.written_at
    where todo_list.session <= excluded.session`);

const OF_SESSION = defineStatement(
  'select content from todo_list where conversation_id = :conversationId and session = :session',
).rows<{ readonly content: string }>();

const NOW = defineStatement(`
  select content from todo_list join conversation on conversation.id = todo_list.conversation_id
  where conversation_id = :conversationId and todo_list.session = conversation.session`).rows<{
  readonly content: string;
}>();
