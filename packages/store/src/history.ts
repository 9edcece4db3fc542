import { type Database, decodeJson, defineStatement } from './database.ts';
import {
  type CachedSession,
  HistoryCache,
  type NumberedEntry,
  type RememberedEntry,
} from './remembered-history.ts';
import {
  INBOX_COLUMNS,
  type InboxRow,
  type MessageRow,
  readInboxRow,
  type TranscriptEntry,
} from './rows.ts';
import type { SnapshotKey, StoredSummary, SummaryKey } from './sessions.ts';

type NumberedEntries = Promise<readonly NumberedEntry[]>;

/** A session's newest summary and the entries after it. */
interface EntriesSinceSummary {
  readonly summary: StoredSummary | null;
  readonly entries: readonly NumberedEntry[];
}

/**
 * The maximum size of the cached history, in characters of its JSON; each character takes about
 * three bytes.
 */
const REMEMBERED = 1_500_000;

/**
 * A conversation's history for the model, stored in the `transcript` table. A turn's commit writes
 * history, later turns read it, and forgetting and retention remove rows.
 */
export function createTranscriptRepository(database: Database) {
  const memory = new HistoryCache(REMEMBERED);
  return {
    /** Reads the newest `limit` entries in one session, oldest first. */
    async recent(
      conversationId: string,
      session: number,
      limit: number,
    ): Promise<readonly RememberedEntry[]> {
      const params = { conversationId, session, limit };
      const rows = await database.read((sql) => sql.all(RECENT, params));
      return rows.reverse().map(toRememberedEntry);
    },
    /** Reads the newest `limit` entries in a session after the entry `after`, oldest first. */
    async newestAfter(place: SnapshotKey, after: number, limit: number): NumberedEntries {
      const params = { ...place, after, limit };
      return (await database.read((sql) => sql.all(NEWEST, params))).reverse().map(toNumberedEntry);
    },
    /**
     * Reads the session's summary that reaches furthest, and the newest `limit` entries after it,
     * oldest first.
     */
    async sinceSummary(place: SummaryKey, limit: number): Promise<EntriesSinceSummary> {
      const version = database.historyVersion();
      const key = JSON.stringify([place.conversationId, place.session, place.reader, limit]);
      const known = version === null ? undefined : memory.get(key, version);
      const read = await readEntriesSinceSummary(database, place, limit, known);
      const isUnchanged = version !== null && database.historyVersion() === version;
      // If the history changed during the read, or its summary was withdrawn, it is read again from
      // the start.
      const isStale = known !== undefined && (!isUnchanged || read.session.reaches < known.reaches);
      const { summary, session } = isStale
        ? await readEntriesSinceSummary(database, place, limit)
        : read;
      if (isUnchanged) memory.set(key, version, session);
      return { summary, entries: session.entries };
    },
    /** Reads the oldest `limit` entries in a session after the entry `after`, oldest first. */
    async oldestAfter(place: SnapshotKey, after: number, limit: number): NumberedEntries {
      const params = { ...place, after, limit };
      return (await database.read((sql) => sql.all(OLDEST, params))).map(toNumberedEntry);
    },
    /**
     * Reads a session's newest `limit` entries stored at or after `from` and before `to` (ms),
     * oldest first.
     */
    async saidBetween(
      place: SnapshotKey,
      from: number,
      to: number,
      limit: number,
    ): NumberedEntries {
      const params = { ...place, from, to, limit };
      return (await database.read((sql) => sql.all(BETWEEN, params)))
        .reverse()
        .map(toNumberedEntry);
    },
    /**
     * Reads the messages that were answered by the turns of the entries from `first` to `last`
     * (`seq`, both inclusive), oldest first.
     */
    async messagesBehind(
      place: SnapshotKey,
      first: number,
      last: number,
    ): Promise<readonly InboxRow[]> {
      const rows = await database.read((sql) => sql.all(BEHIND, { ...place, first, last }));
      return rows.map(readInboxRow);
    },
  };
}

export interface EntryRow extends Pick<TranscriptEntry, 'role'> {
  readonly seq: number;
  readonly content: string;
  readonly at: number;
  readonly undelivered: string | null;
}

/** Reads a session, or only the entries added since `known` was read. */
async function readEntriesSinceSummary(
  database: Database,
  place: SummaryKey,
  limit: number,
  known: CachedSession = { entries: [], reaches: 0, characters: 0 },
): Promise<{ readonly summary: StoredSummary | null; readonly session: CachedSession }> {
  const after = known.entries.at(-1)?.seq ?? 0;
  const rows = await database.read((sql) => sql.all(SINCE_SUMMARY, { ...place, after, limit }));
  const row = rows.find(({ role }) => role === 'summary');
  const summary = row === undefined ? null : { content: decodeJson(row.content), reaches: row.seq };
  const fresh = rows.filter(isEntry);
  const reaches = summary?.reaches ?? 0;
  const all = [...known.entries, ...fresh.map(toNumberedEntry).sort((a, b) => a.seq - b.seq)];
  const entries = all.slice(-limit).filter(({ seq }) => seq > reaches);
  const total = fresh.reduce((sum, { content }) => sum + content.length, known.characters);
  // The size of entries that left the window is estimated from the average.
  const characters = Math.ceil((total * entries.length) / Math.max(1, all.length));
  return { summary, session: { entries, reaches, characters } };
}

type SinceSummaryRow = EntryRow | (Omit<EntryRow, 'role'> & { readonly role: 'summary' });

// `undelivered` is the reason why part of the turn's answer did not reach its chat (index
// `outbox_undelivered`). Entries that contain a question do not have `undelivered`.
export const SESSION_ENTRIES = `
  select seq, role, content, created_at as at, case when role = 'assistant' then (
    select max(outbox.error) from outbox
    where outbox.turn_id = transcript.turn_id and outbox.turn_id is not null
      and outbox.state in ('failed', 'unknown')) end as undelivered
  from transcript where conversation_id = :conversationId and session = :session`;

const RECENT = defineStatement(
  `${SESSION_ENTRIES} order by seq desc limit :limit`,
).rows<EntryRow>();

const NEWEST = defineStatement(
  `${SESSION_ENTRIES} and seq > :after order by seq desc limit :limit`,
).rows<EntryRow>();

// The summary is returned as a row with its own role. A single statement is used, because every
// turn runs it and most sessions do not have a summary. A common table expression would be shorter,
// but SQLite would materialize it on each call.
const SUMMARIES = `
  from summary where conversation_id = :conversationId and session = :session and reader = :reader
    and kind = 'history' and content is not null`;

const SINCE_SUMMARY = defineStatement(`
  select * from (${SESSION_ENTRIES} and seq > coalesce(
      (select max(last_seq) ${SUMMARIES} and last_seq > :after), cast(:after as bigint))
    order by seq desc limit :limit) as newest
  union all select last_seq, 'summary', content, 0, null ${SUMMARIES}
    and last_seq = (select max(last_seq) ${SUMMARIES})`).rows<SinceSummaryRow>();

const OLDEST = defineStatement(
  `${SESSION_ENTRIES} and seq > :after order by seq limit :limit`,
).rows<EntryRow>();

const BETWEEN = defineStatement(`
  ${SESSION_ENTRIES} and created_at >= :from and created_at < :to
  order by created_at desc, seq desc limit :limit`).rows<EntryRow>();

const BEHIND = defineStatement(`
  select ${INBOX_COLUMNS} from inbox
  where turn_id is not null and turn_id in (select turn_id from transcript
    where conversation_id = :conversationId and session = :session and seq >= :first and seq <= :last)
  order by seq`).rows<MessageRow>();

function toRememberedEntry({ role, content, undelivered }: EntryRow): RememberedEntry {
  const entry = { role, content: decodeJson(content) };
  return undelivered !== null ? { ...entry, undelivered } : entry;
}

const isEntry = (row: SinceSummaryRow): row is EntryRow => row.role !== 'summary';

export const toNumberedEntry = (row: EntryRow): NumberedEntry => {
  return { seq: row.seq, at: row.at, ...toRememberedEntry(row) };
};
