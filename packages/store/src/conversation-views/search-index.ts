import { setImmediate as pause } from 'node:timers/promises';
import { type Clock, systemTime } from '@parley/core';
import {
  type Database,
  defineStatement,
  encodeJson,
  type Sql,
  selectJsonItem,
} from '../database.ts';
import { MARKS } from '../rows.ts';
import { getMessageText, getPartText } from './messages.ts';

/*
 * The full-text index over all messages: FTS5 on SQLite, `tsvector` on PostgreSQL. The index
 * contains only words; the text itself stays in its tables. Receiving a message does not update the
 * index; each search first indexes new rows. A hit counts only if the stored text still contains
 * the words, so an edited or emptied row never causes a false hit.
 */

type IndexSource = 'inbox' | 'outbox';

const SOURCES: readonly IndexSource[] = ['inbox', 'outbox'];

/** An entry's id is twice the `seq` of its row, plus one for an outgoing part. */
const ODD: Readonly<Record<IndexSource, number>> = { inbox: 0, outbox: 1 };

/** Rows per transaction; on SQLite, all other writers wait a few ms for each one. */
const BATCH = 100;
/**
 * Rows younger than this (in ms) are read again by the next search, because on PostgreSQL a smaller
 * number may become visible after a larger one.
 */
const SETTLED_MS = 60_000;
/**
 * Waiting messages younger than this (in ms) are also read again, because their authors may still
 * edit them.
 */
const CHANGES_MS = 60 * 60_000;

/**
 * Indexes new rows for at most about `budgetMs`. Resolves to the number of rows not yet indexed: 0,
 * except during the first searches on a large database.
 */
export async function catchUpIndex(
  database: Database,
  clock: Clock,
  budgetMs: number,
): Promise<number> {
  const until = systemTime.monotonic() + budgetMs;
  let missing = 0;
  for (const source of SOURCES) {
    let from: IndexCursor = { reach: -1, after: 0 };
    for (;;) {
      if (systemTime.monotonic() > until) {
        missing += await countUnindexedRows(database, source, from.after);
        break;
      }
      const next = await indexBatch(database, source, from, clock());
      if (next === null) break;
      from = next;
      await pause();
    }
  }
  return missing;
}

/** Where to continue reading: after `after`, if the stored number still equals `reach`. */
interface IndexCursor {
  readonly reach: number;
  readonly after: number;
}

/** Indexes one batch and returns where to continue; null if there are no more rows. */
async function indexBatch(
  database: Database,
  source: IndexSource,
  { reach: known, after: last }: IndexCursor,
  now: number,
): Promise<IndexCursor | null> {
  return database.write(async (sql) => {
    await sql.run(ENSURE_REACH, { source });
    // The lock prevents another process from emptying the index at the same time. If the index has
    // been emptied, reading starts over.
    const reach = (await sql.get(LOCK_REACH, { source }))?.seq ?? 0;
    const after = reach === known ? last : reach;
    const rows = await sql.all(SOME[source], { after, limit: BATCH });
    const entries = rows.map(({ seq, text }) => [
      2 * seq + ODD[source],
      toIndexedWords(source, text, database.dialect),
    ]);
    if (entries.length > 0) sql.send(PUT, { entries: encodeJson(entries) });
    const young = rows.findIndex(
      ({ at, waits }) => now - at < (waits === 1 ? CHANGES_MS : SETTLED_MS),
    );
    const settled = young === -1 ? rows.at(-1) : rows[young - 1];
    // The stored number does not advance past a recent row, so that the row is read again.
    const moved = settled !== undefined && after === reach ? settled.seq : reach;
    if (moved !== reach) sql.send(MOVE_REACH, { source, seq: moved });
    const end = rows.at(-1)?.seq;
    return end === undefined || rows.length < BATCH ? null : { reach: moved, after: end };
  }, 'process');
}

/** The words of a stored text in the database's own format. */
function toIndexedWords(source: IndexSource, stored: string, dialect: Database['dialect']): string {
  const text = source === 'inbox' ? getMessageText(stored) : getPartText(stored);
  const words = extractSearchWords(text ?? '');
  if (dialect === 'sqlite') return words.join(' ');
  return words.map((word, nth) => `'${word}':${nth + 1}`).join(' ');
}

/**
 * Removes all entries from the search index, so that none contains a forgotten word. Later searches
 * rebuild the index.
 */
export async function emptySearchIndex(database: Database): Promise<void> {
  await database.write(async (sql) => {
    for (const source of SOURCES) await sql.run(RESET_REACH, { source });
    await sql.run(database.dialect === 'sqlite' ? EMPTY_FTS : EMPTY_TABLE);
  });
}

/** The number of index entries checked in one step. */
const STEP = 500;

/**
 * Removes entries whose rows were deleted, in small steps, and yields how many were removed. The
 * oldest rows are deleted first, so unless `thorough` is set, this stops after the first step that
 * removes nothing.
 */
export async function* removeOrphanedEntries(
  database: Database,
  thorough: boolean,
): AsyncGenerator<{ readonly removed: number; readonly tookMs: number }> {
  for (let after = -1; ; ) {
    const began = systemTime.monotonic();
    const last = after;
    const ids = (await database.read((sql) => sql.all(ENTRIES, { after: last, limit: STEP }))).map(
      ({ id }) => id,
    );
    const removed = await database.write((sql) => removeEntriesOfDeletedRows(sql, ids), 'process');
    yield { removed, tookMs: systemTime.monotonic() - began };
    if (ids.length < STEP || !(thorough || removed > 0)) return;
    after = ids.at(-1) ?? after;
  }
}

async function removeEntriesOfDeletedRows(sql: Sql, ids: readonly number[]): Promise<number> {
  const there = new Set<number>();
  for (const source of SOURCES) {
    const own = ids.filter((id) => id % 2 === ODD[source]);
    const seqs = encodeJson(own.map((id) => (id - ODD[source]) / 2));
    for (const { seq } of await sql.all(THERE[source], { seqs })) {
      there.add(2 * seq + ODD[source]);
    }
  }
  const gone = ids.filter((id) => !there.has(id));
  if (gone.length > 0) await sql.run(DROP, { ids: encodeJson(gone) });
  return gone.length;
}

async function countUnindexedRows(
  database: Database,
  source: IndexSource,
  after: number,
): Promise<number> {
  const row = await database.read(async (sql) => {
    const reach = (await sql.get(REACH, { source }))?.seq ?? 0;
    return sql.get(NEWER[source], { after: Math.max(after, reach) });
  });
  return row?.count ?? 0;
}

interface SequenceRow {
  readonly seq: number;
}

const REACH = defineStatement(
  'select seq from search_index_progress where source = :source',
).rows<SequenceRow>();

const LOCK_REACH = defineStatement(
  'select seq from search_index_progress where source = :source /*pg for update*/',
).rows<SequenceRow>();

const ENSURE_REACH = defineStatement(`
  insert into search_index_progress (source, seq) values (:source, 0) on conflict (source) do nothing`);

const RESET_REACH = defineStatement(`
  insert into search_index_progress (source, seq) values (:source, 0) on conflict (source) do update set seq = 0`);

const MOVE_REACH = defineStatement(
  'update search_index_progress set seq = :seq where source = :source',
);

interface StoredText extends SequenceRow {
  readonly text: string;
  readonly at: number;
  /** 1 if no turn has claimed the message yet. */
  readonly waits: number;
}

const SOME = {
  inbox: defineStatement(`
    select seq, message as text, received_at as at, case when state = 'waiting' then 1 else 0 end as waits
    from inbox where seq > :after
    order by seq limit :limit`).rows<StoredText>(),
  outbox: defineStatement(`
    select seq, body as text, created_at as at, 0 as waits from outbox where seq > :after
    order by seq limit :limit`).rows<StoredText>(),
};

const NEWER = {
  inbox: defineStatement('select count(*) as count from inbox where seq > :after').rows<CountRow>(),
  outbox: defineStatement(
    'select count(*) as count from outbox where seq > :after',
  ).rows<CountRow>(),
};

interface CountRow {
  readonly count: number;
}

const SEQS = 'select cast(value as bigint) from json_each(:seqs)';

const THERE = {
  inbox: defineStatement(`select seq from inbox where seq in (${SEQS})`).rows<SequenceRow>(),
  outbox: defineStatement(`select seq from outbox where seq in (${SEQS})`).rows<SequenceRow>(),
};

const PUT = defineStatement(`
  insert /*sqlite or replace*/ into search_entry (/*sqlite rowid*//*pg id*/, words)
  select cast(${selectJsonItem(0)} as bigint), /*pg cast(*/${selectJsonItem(1)}/*pg  as tsvector)*/
  from json_each(:entries) where true
  /*pg on conflict (id) do update set words = excluded.words*/`);

const ENTRIES = defineStatement(`
  select /*sqlite rowid as*/ id from search_entry where /*sqlite rowid*//*pg id*/ > :after
  order by /*sqlite rowid*//*pg id*/ limit :limit`).rows<{ readonly id: number }>();

const DROP = defineStatement(`
  delete from search_entry
  where /*sqlite rowid*//*pg id*/ in (select cast(value as bigint) from json_each(:ids))`);

const EMPTY_FTS = defineStatement(`insert into search_entry (search_entry) values ('delete-all')`);

/** Takes the same time for any table size and also removes the bytes from disk. */
const EMPTY_TABLE = defineStatement('truncate search_entry');

/** A word in its searchable form, and its position in the text. */
interface WordPosition {
  readonly word: string;
  readonly at: number;
}

/** Search terms, each of which must be found. The words of a multi-word term must be adjacent. */
export type SearchTerms = readonly (readonly string[])[];

/**
 * Scripts without spaces between words: each character counts as a word, so a written word is
 * searched as a phrase.
 */
const UNSPACED =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}]';

const WORDS = new RegExp(`${UNSPACED}|(?:(?!${UNSPACED})[\\p{L}\\p{N}\\p{M}])+`, 'gu');

const REMOVED = new RegExp(
  Object.values(MARKS)
    .map((mark) => RegExp.escape(mark))
    .join('|'),
  'g',
);

/** Longer words are truncated to this length. */
const MAX_WORD = 64;
/** Positions in a `tsvector` end at 16,383. */
const MAX_WORDS = 10_000;
/** A `tsvector` holds at most 1 MB, and a character takes up to 4 bytes. */
const MAX_CHARACTERS = 200_000;
const MAX_TERMS = 10;

/**
 * Splits a text into words. Both databases index these words unchanged, so that no locale,
 * tokenizer or Unicode version affects the results. Case and accents are ignored: `grosse` matches
 * `Größe`.
 */
function splitIntoWords(text: string): readonly WordPosition[] {
  const found: WordPosition[] = [];
  let characters = 0;
  // A placeholder replaces removed text; nobody wrote the words in it.
  const said = text.replaceAll(REMOVED, (mark) => ' '.repeat(mark.length));
  for (const { 0: piece, index: at } of said.matchAll(WORDS)) {
    const word = foldWord(piece);
    characters += word.length;
    if (found.length === MAX_WORDS || characters > MAX_CHARACTERS) break;
    if (word !== '') found.push({ word, at });
  }
  return found;
}

/** Lists the words in a text, in order. */
export function extractSearchWords(text: string): readonly string[] {
  return splitIntoWords(text).map(({ word }) => word);
}

/**
 * Combining marks for Latin, Greek and Cyrillic letters. In other scripts, combining marks form
 * different letters.
 */
const ACCENTS = /[\u0300-\u036f]/g;

function foldWord(piece: string): string {
  return piece
    .normalize('NFKD')
    .replace(ACCENTS, '')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replace(/[^\p{L}\p{N}\p{M}]/gu, '')
    .slice(0, MAX_WORD);
}

/** Parses a typed query into terms; empty if it contains no word. */
export function parseTerms(typed: string): SearchTerms {
  return typed
    .split(/\s+/)
    .map(extractSearchWords)
    .filter((words) => words.length > 0)
    .slice(0, MAX_TERMS);
}

/** Whether a text contains every term; the last word of a term may be only a prefix. */
export function matchesTerms(text: string, terms: SearchTerms): boolean {
  const words = splitIntoWords(text);
  return terms.every((term) => findTermPosition(words, term) !== null);
}

/** The number of characters to show on each side of a search match. */
const AROUND = 80;

/** Returns the section of a text around the first match, or its beginning if nothing matches. */
export function excerptMatch(text: string, terms: SearchTerms): string {
  const words = splitIntoWords(text);
  const places = terms.flatMap((term) => findTermPosition(words, term) ?? []);
  const at = places.length === 0 ? 0 : Math.min(...places);
  // Drops half of a surrogate pair at either end of the excerpt.
  const from = at <= AROUND ? 0 : at - AROUND;
  const to = at + 2 * AROUND;
  const piece = Array.from(text.slice(from, to))
    .filter((character) => character.isWellFormed())
    .join('');
  const start = from > 0 ? '…' : '';
  return `${start}${piece.replaceAll(/\s+/g, ' ').trim()}${to < text.length ? '…' : ''}`;
}

function findTermPosition(words: readonly WordPosition[], term: readonly string[]): number | null {
  const last = term.length - 1;
  const nth = words.findIndex((_, start) =>
    term.every((wanted, offset) => {
      const word = words[start + offset]?.word;
      return offset === last ? word?.startsWith(wanted) === true : word === wanted;
    }),
  );
  return words[nth]?.at ?? null;
}
