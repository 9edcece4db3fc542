import { lockUndeletedConversation } from './conversations.ts';
import { type Database, defineStatement, encodeJson, type Sql } from './database.ts';

/** How a conversation appears in a person's inbox, except for the read position. */
export interface ConversationMark {
  readonly id: string;
  /** The title chosen by this person; null for the original title. */
  readonly title: string | null;
  readonly isPinned: boolean;
  readonly isArchived: boolean;
}

/**
 * The newest message (`inbox.seq`) and the newest outbox part (`outbox.seq`) that a person has
 * seen.
 */
export interface ReadPosition {
  readonly message: number;
  readonly part: number;
}

/** A change to one person's view of a conversation. */
export type ConversationMarkChange =
  /** Null restores the conversation's original title. */
  | { readonly kind: 'rename'; readonly title: string | null }
  | { readonly kind: 'pin'; readonly to: boolean }
  | { readonly kind: 'archive'; readonly to: boolean }
  /** Null marks the whole conversation as read. */
  | { readonly kind: 'read'; readonly upTo: ReadPosition | null }
  | { readonly kind: 'unread' };

/** The marks that a browser stored before the database stored them. */
export interface BrowserMarks {
  readonly pinned: readonly string[];
  readonly archived: readonly string[];
  readonly titles: Readonly<Record<string, string>>;
  /** Conversations with messages that had not been seen in that browser. */
  readonly unread: readonly string[];
}

/** The maximum number of marks listed, for the conversations with the newest messages. */
const MAX_MARKS = 1_000;

/**
 * What each person sets in their own inbox (U08): titles, pins, archived conversations, and how far
 * they have read. The page and the command line write these marks, and all of a person's devices
 * show them.
 */
export function createConversationMarkRepository(database: Database) {
  return {
    /** Changes a mark; false if the conversation does not exist. */
    change: (reader: string, id: string, change: ConversationMarkChange): Promise<boolean> =>
      database.write(async (sql) => {
        if ((await lockUndeletedConversation(sql, id)) === undefined) return false;
        const newest = await sql.get(NEWEST, { id });
        if (newest === undefined) return false;
        await applyMarkChange(sql, { reader, id, newest }, change);
        return true;
      }),
    /** Reads a person's titles, pins and archived conversations, and whether they use the inbox. */
    of: (reader: string) =>
      database.read(async (sql) => {
        const rows = await sql.all(LIST, { reader, limit: MAX_MARKS });
        const marks = rows.map(({ pinned, archived, ...one }): ConversationMark => {
          return { ...one, isPinned: pinned === 1, isArchived: archived === 1 };
        });
        return { marks, isKnown: (await sql.get(READER, { reader })) !== undefined };
      }),
    /**
     * Imports the marks that one browser stored. When a person first uses the inbox, everything
     * that already exists counts as read. Marks that the person has already set are kept.
     */
    begin: (reader: string, { pinned, archived, titles, unread }: BrowserMarks): Promise<void> =>
      database.write(async (sql) => {
        const isFirst = (await sql.run(ADD_READER, { reader })) > 0;
        const named = [...pinned, ...archived, ...Object.keys(titles), ...unread];
        const rows = await sql.all(LOCK_UNDELETED, { ids: encodeJson(named) });
        const found = new Set(rows.map(({ id }) => id));
        for (const id of pinned) if (found.has(id)) sql.send(ADD_PIN, { reader, id });
        for (const id of archived) if (found.has(id)) sql.send(ADD_ARCHIVED, { reader, id });
        for (const [id, title] of Object.entries(titles)) {
          if (found.has(id)) sql.send(ADD_TITLE, { reader, id, title });
        }
        if (!isFirst) return;
        for (const id of unread.filter((one) => found.has(one))) {
          const newest = await sql.get(NEWEST, { id });
          if (newest !== undefined) await applyMarkChange(sql, { reader, id, newest }, UNREAD);
        }
      }),
  };
}

const UNREAD = { kind: 'unread' } as const;

interface MarkTarget {
  readonly reader: string;
  readonly id: string;
  readonly newest: NewestSequence;
}

async function applyMarkChange(
  sql: Sql,
  { reader, id, newest }: MarkTarget,
  change: ConversationMarkChange,
): Promise<void> {
  const key = { reader, id };
  switch (change.kind) {
    case 'rename':
      return sql.send(SET_TITLE, { ...key, title: change.title });
    case 'pin':
      return sql.send(SET_PINNED, { ...key, to: Number(change.to) });
    case 'archive':
      return sql.send(SET_ARCHIVED, { ...key, to: Number(change.to) });
    case 'unread':
      return sql.send(SET_READ, { ...key, message: newest.message - 1, part: newest.part - 1 });
    case 'read': {
      const { message, part } = change.upTo ?? newest;
      const before = await sql.get(READ, key);
      // A device may report late. Another device may have reported more by then, or the person may
      // have started using the inbox, which counts everything as read.
      const furthest = {
        message: Math.max(Math.min(message, newest.message), before?.message ?? 0),
        part: Math.max(Math.min(part, newest.part), before?.part ?? 0),
      };
      return sql.send(SET_READ, { ...key, ...furthest });
    }
  }
}

interface NewestSequence {
  readonly message: number;
  readonly part: number;
}

const NEWEST = defineStatement(`
  select newest.seq as message, coalesce((select max(seq) from outbox
    where outbox.channel = newest.channel and outbox.account = newest.account
      and outbox.chat_id = newest.chat_id), 0) as part
  from inbox as newest
  where newest.seq = (select max(seq) from inbox where conversation_id = :id)`).rows<NewestSequence>();

const OF_MARK = 'from conversation_mark where reader = :reader and conversation_id = :id';
const OF_READER = 'from inbox_reader where reader = :reader';

/** The current read position, calculated as in the `FACTS` of the list. */
const READ = defineStatement(`
  select coalesce((select read_message ${OF_MARK}), (select read_message ${OF_READER})) as message,
    coalesce((select read_part ${OF_MARK}), (select read_part ${OF_READER})) as part`).rows<{
  readonly message: number | null;
  readonly part: number | null;
}>();

const READER = defineStatement('select reader from inbox_reader where reader = :reader').rows<{
  readonly reader: string;
}>();

const ADD_READER = defineStatement(`
  insert into inbox_reader (reader, read_message, read_part)
  select :reader, (select coalesce(max(seq), 0) from inbox), (select coalesce(max(seq), 0) from outbox)
  where true on conflict (reader) do nothing`);

const ON_CONFLICT = 'on conflict (reader, conversation_id) do update set';

const SET_TITLE = defineStatement(`
  insert into conversation_mark (reader, conversation_id, title) values (:reader, :id, :title)
  ${ON_CONFLICT} title = excluded.title`);

const SET_PINNED = defineStatement(`
  insert into conversation_mark (reader, conversation_id, pinned) values (:reader, :id, :to)
  ${ON_CONFLICT} pinned = excluded.pinned`);

const SET_ARCHIVED = defineStatement(`
  insert into conversation_mark (reader, conversation_id, archived) values (:reader, :id, :to)
  ${ON_CONFLICT} archived = excluded.archived`);

const SET_READ = defineStatement(`
  insert into conversation_mark (reader, conversation_id, read_message, read_part)
  values (:reader, :id, :message, :part)
  ${ON_CONFLICT} read_message = excluded.read_message, read_part = excluded.read_part`);

// A browser may send conversations that no longer exist. This order follows the package's lock
// order.
const LOCK_UNDELETED = defineStatement(`
  select id from conversation
  where id in (select value from json_each(:ids)) and exists (select 1 from inbox
    where inbox.conversation_id = conversation.id
      and inbox.seq > coalesce(conversation.deleted_message, 0))
  order by id /*pg for no key update*/`).rows<{ readonly id: string }>();

const ADD_PIN = defineStatement(`
  insert into conversation_mark (reader, conversation_id, pinned) values (:reader, :id, 1)
  ${ON_CONFLICT} pinned = 1`);

const ADD_ARCHIVED = defineStatement(`
  insert into conversation_mark (reader, conversation_id, archived) values (:reader, :id, 1)
  ${ON_CONFLICT} archived = 1`);

const ADD_TITLE = defineStatement(`
  insert into conversation_mark (reader, conversation_id, title) values (:reader, :id, :title)
  ${ON_CONFLICT} title = coalesce(conversation_mark.title, excluded.title)`);

const LIST = defineStatement(`
  select conversation_id as id, title, pinned, archived from conversation_mark
  where reader = :reader and (pinned = 1 or archived = 1 or title is not null)
  order by (select max(seq) from inbox where inbox.conversation_id = conversation_mark.conversation_id) desc
  limit :limit`).rows<{
  readonly id: string;
  readonly title: string | null;
  readonly pinned: number;
  readonly archived: number;
}>();
