import { setImmediate as pause } from 'node:timers/promises';
import { z } from 'zod';
import {
  type Database,
  decodeJson,
  defineDynamicStatement,
  defineStatement,
  encodeJson,
  type ParameterValues,
  type Sql,
} from '../database.ts';
import { hashText, listHashes } from '../prompt-rows.ts';
import { listPrimaryKeyColumns, TABLES, type TableName } from '../tables.ts';
import { type ForgottenTable, rewriteRows } from './forgotten-tables.ts';
import { createTextRedactor, type Redact } from './phrase-redactor.ts';

/** An adapter's copy of a sent message, kept so that it can be resent. */
const Copy = z.object({ id: z.string().optional(), content: z.base64() });

/**
 * Drops copies of sent messages (`sent`) that contain one of the phrases, so that a phone cannot
 * request them again. The bytes are in the platform's format, so a phrase cannot be cut out of
 * them.
 */
export async function forgetInSentCopies(
  sql: Sql,
  conversations: readonly string[],
  without: Redact,
): Promise<number> {
  let count = 0;
  for (const account of await sql.all(ACCOUNTS, { conversations: encodeJson(conversations) })) {
    count += await dropMatchingSentCopies(sql, account, (value) => containsPhrase(value, without));
  }
  return count;
}

interface ChannelAccountKey {
  readonly channel: string;
  readonly account: string;
}

const ACCOUNTS = defineStatement(`
  select distinct channel, account from inbox
  where conversation_id in (select value from json_each(:conversations))`).rows<ChannelAccountKey>();

const COPIES = `from adapter_state where channel = :channel and account = :account and kind = 'sent'`;

const ALL_COPIES = defineStatement(`select id, value ${COPIES}`).rows<{
  readonly id: string;
  readonly value: string;
}>();

const DROP_COPIES = defineStatement(
  `delete ${COPIES} and id in (select value from json_each(:ids))`,
);

/** Drops an account's copies selected by `isMeant`, and returns how many were dropped. */
async function dropMatchingSentCopies(
  sql: Sql,
  account: ChannelAccountKey,
  isMeant: (value: string) => boolean,
): Promise<number> {
  const copies = await sql.all(ALL_COPIES, account);
  const meant = copies.filter(({ value }) => isMeant(value)).map(({ id }) => id);
  return sql.run(DROP_COPIES, { ...account, ids: encodeJson(meant) });
}

/** Drops the copies of the selected parts, even if they do not contain a forgotten phrase. */
async function dropSentCopies(sql: Sql, { where, values }: RowSelection): Promise<void> {
  const parts =
    defineDynamicStatement(`select channel, account, platform_message_id as id from outbox
    where ${where} and platform_message_id is not null`);
  const rows = await sql.all(parts.rows<ChannelAccountKey & { readonly id: string }>(), values);
  const ids = new Set(rows.map(({ id }) => id));
  // One person's parts may have been sent through several accounts.
  for (const account of new Map(rows.map((row) => [`${row.channel} ${row.account}`, row])).values())
    await dropMatchingSentCopies(sql, account, (value) => {
      const copy = Copy.safeParse(parseJsonOrNull(value));
      return copy.success && ids.has(copy.data.id ?? '');
    });
}

function containsPhrase(value: string, without: Redact): boolean {
  const copy = Copy.safeParse(parseJsonOrNull(value));
  const text = copy.success ? Buffer.from(copy.data.content, 'base64').toString('utf8') : value;
  return without(text) !== text;
}

function parseJsonOrNull(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    // Text that is not JSON is searched without parsing.
    return null;
  }
}

/**
 * Removes phrases from the recorded prompts (P17) of these conversations. A text is stored under
 * its hash and may also belong to prompts in other conversations. These keep the old text; the
 * changed text gets its own hash.
 */
export async function forgetInPrompts(
  sql: Sql,
  conversations: readonly string[],
  without: (value: unknown) => unknown,
): Promise<number> {
  const rows = await sql.all(PROMPTS, { conversations: encodeJson(conversations) });
  const renamed = new Map<string, string | null>();
  let count = 0;
  for (const row of rows) {
    let parts = row.parts;
    for (const hash of listHashes(row)) {
      if (!renamed.has(hash)) renamed.set(hash, await storeRedactedText(sql, hash, without));
      const fresh = renamed.get(hash) ?? null;
      if (fresh !== null) parts = parts.replaceAll(JSON.stringify(hash), JSON.stringify(fresh));
    }
    if (parts === row.parts) continue;
    sql.send(CHANGE_PROMPT, { turnId: row.turn_id, parts });
    count += 1;
  }
  for (const [hash, fresh] of renamed)
    if (fresh !== null) {
      const like = `%${hash.replaceAll(/[%_]/g, '_')}%`;
      sql.send(DROP_UNUSED, { hash, like });
    }
  return count;
}

/**
 * Stores the text without the phrases and returns the new hash; null if the text does not contain
 * any of them.
 */
async function storeRedactedText(
  sql: Sql,
  hash: string,
  without: (value: unknown) => unknown,
): Promise<string | null> {
  const row = await sql.get(TEXT, { hash });
  if (row === undefined) return null;
  const before = decodeJson(row.content);
  const after = without(before);
  if (after === before) return null;
  const text = hashText(String(after));
  sql.send(ADD_TEXT, { ...text, usedAt: row.used_at });
  return text.hash;
}

interface TurnPromptRow {
  readonly turn_id: string;
  readonly parts: string;
}

const PROMPTS = defineStatement(`
  select turn_id, parts from turn_prompt
  where conversation_id in (select value from json_each(:conversations))`).rows<TurnPromptRow>();

const CHANGE_PROMPT = defineStatement(
  'update turn_prompt set parts = :parts where turn_id = :turnId',
);

const TEXT = defineStatement('select content, used_at from prompt_text where hash = :hash').rows<{
  readonly content: string;
  readonly used_at: number;
}>();

const ADD_TEXT = defineStatement(`
  insert into prompt_text (hash, content, used_at) values (:hash, :content, :usedAt)
  on conflict (hash) do nothing`);

const DROP_UNUSED = defineStatement(`
  delete from prompt_text
  where hash = :hash and not exists (select 1 from turn_prompt where parts like :like)`);

/** Drops texts that are no longer part of any prompt, in small batches. */
export async function dropUnusedPromptTexts(database: Database): Promise<void> {
  const used = new Set<string>();
  for (let after = ''; ; ) {
    const rows = await database.read((sql) => sql.all(SOME_PROMPTS, { after }));
    for (const { parts } of rows) {
      for (const [hash] of parts.matchAll(/[\w-]{43}/g)) used.add(hash);
    }
    after = rows.at(-1)?.turn_id ?? after;
    await pause();
    if (rows.length < BATCH) break;
  }
  const hashes = await database.read((sql) => sql.all(HASHES));
  const unused = hashes.map(({ hash }) => hash).filter((hash) => !used.has(hash));
  for (let at = 0; at < unused.length; at += BATCH) {
    const some = encodeJson(unused.slice(at, at + BATCH));
    await database.change('power-cut', DROP_TEXTS, { hashes: some });
    await pause();
  }
}

/** Rows per transaction; the number is small, so that a concurrent commit hardly waits. */
export const BATCH = 500;

const SOME_PROMPTS = defineStatement(`
  select turn_id, parts from turn_prompt where turn_id > :after
  order by turn_id limit ${BATCH}`).rows<TurnPromptRow>();

const HASHES = defineStatement('select hash from prompt_text').rows<{ readonly hash: string }>();

const DROP_TEXTS = defineStatement(
  'delete from prompt_text where hash in (select value from json_each(:hashes))',
);

/** Selects rows in a table by a condition and its parameter values. */
export interface RowSelection {
  readonly where: string;
  readonly values: ParameterValues;
}

/**
 * Builds a statement that drops dead letters about removed work, because they can neither be read
 * nor replayed. It must run when a lane is stopped, because a replay would make the lane's messages
 * and parts wait again.
 */
export function buildDeadLetterDeletion(turns: string, parts: string) {
  return defineDynamicStatement(`delete from dead_letter
    where subject in (select id from turn where ${turns})
      or subject in (select id from outbox where ${parts})`);
}

/** Runs `buildDeadLetterDeletion` in a separate transaction. */
export async function dropDeadLetters(
  database: Database,
  turns: string,
  parts: string,
  values: ParameterValues,
): Promise<void> {
  await database.change('power-cut', buildDeadLetterDeletion(turns, parts), values);
}

/** Deletes rows in small transactions and returns the number of deleted rows. */
export async function deleteRows(
  database: Database,
  table: TableName,
  { where, values }: RowSelection,
): Promise<number> {
  const columns = listPrimaryKeyColumns(TABLES[table]).join(', ');
  const some = defineDynamicStatement(`delete from ${table}
    where (${columns}) in (select ${columns} from ${table} where ${where} limit ${BATCH})`);
  let count = 0;
  for (;;) {
    const deleted = await database.change('power-cut', some, values);
    count += deleted;
    await pause();
    if (deleted < BATCH) return count;
  }
}

/** Deletes rows, or only their text if the rows must stay, and returns the number of rows. */
export function removeText(
  database: Database,
  forgotten: ForgottenTable,
  rows: RowSelection,
  mark: string,
): Promise<number> {
  return forgotten.whole === 'rows'
    ? deleteRows(database, forgotten.table, rows)
    : clearRowText(database, forgotten, rows, mark);
}

/** Rows that identify duplicates, or that other rows refer to, stay without their text. */
async function clearRowText(
  database: Database,
  forgotten: ForgottenTable,
  { where, values }: RowSelection,
  mark: string,
): Promise<number> {
  const { table } = forgotten;
  if (table === 'turn') {
    const empty = defineDynamicStatement(
      `update turn set reason = null where ${where} and reason is not null`,
    );
    return database.change('power-cut', empty, values);
  }
  // Parts that have not been sent yet are never sent.
  const unsent = { where: `${where} and state = 'pending'`, values };
  let count = table === 'outbox' ? await deleteRows(database, table, unsent) : 0;
  const span = defineDynamicStatement(
    `select min(seq) as first, max(seq) as last from ${table} where ${where}`,
  );
  const { first, last } =
    (await database.read((sql) => sql.get(span.rows<SequenceSpan>(), values))) ?? NOTHING;
  if (first === null || last === null) return count;
  const without = createTextRedactor(mark);
  for (let from = first; from <= last; from += BATCH) {
    const some = {
      where: `(${where}) and seq >= :from and seq < :to`,
      values: { ...values, from, to: from + BATCH },
    };
    count += await database.write(async (sql) => {
      if (table === 'outbox') {
        await dropSentCopies(sql, some);
        await sql.run(defineDynamicStatement(`${SEND_NO_MORE} and ${some.where}`), some.values);
      }
      return rewriteRows(sql, forgotten, some, without);
    });
    await pause();
  }
  return count;
}

/**
 * A part that is just being sent must not be tried again without its text. The same applies to a
 * part that failed after the waiting parts were removed and now waits for its next attempt.
 */
const SEND_NO_MORE = `update outbox set changed = 'deleted',
  state = case when state = 'pending' then 'failed' else state end
  where state in ('pending', 'sending')`;

interface SequenceSpan {
  readonly first: number | null;
  readonly last: number | null;
}

const NOTHING: SequenceSpan = { first: null, last: null };
