import { setImmediate as pause } from 'node:timers/promises';
import type { RawBuilder } from 'kysely';
import { z } from 'zod';
import type { Database, Sql } from '../database.ts';
import { fromJson, toJson } from '../json-column.ts';
import { raw } from '../kysely.ts';
import { hashed, hashesOf } from '../prompt-rows.ts';
import {
  FORGET_PLACES,
  type ForgetPlace,
  rewritePlace,
  type Without,
  withoutTexts,
} from './places.ts';

/** What an adapter keeps of a message it has sent, to send it once more. */
const Copy = z.object({ id: z.string().optional(), content: z.base64() });

/**
 * Drops the copies that adapters keep of what they have sent (`sent`), where the words stand in them:
 * a telephone that asks for such a message again does not get it. Their bytes are the platform's, so
 * nothing can be taken out of them.
 */
export async function forgetInCopies(
  sql: Sql,
  conversations: readonly string[],
  without: Without,
): Promise<number> {
  if (conversations.length === 0) return 0;
  const accounts = await sql
    .selectFrom('inbox')
    .select(['channel', 'account'])
    .distinct()
    .where('conversation_id', 'in', conversations)
    .execute();
  let count = 0;
  for (const account of accounts) {
    count += await dropWhere(sql, account, (value) => holdsWords(value, without));
  }
  return count;
}

/** Drops the copies of an account that are meant; how many. */
async function dropWhere(
  sql: Sql,
  { channel, account }: { readonly channel: string; readonly account: string },
  isMeant: (value: string) => boolean,
): Promise<number> {
  const names = { channel, account, kind: 'sent' };
  const kept = sql.selectFrom('adapter_value').where((eb) => eb.and(names));
  const rows = await kept.select(['id', 'value']).execute();
  const meant = rows.filter(({ value }) => isMeant(value));
  for (const { id } of meant) {
    await sql
      .deleteFrom('adapter_value')
      .where((eb) => eb.and({ ...names, id }))
      .execute();
  }
  return meant.length;
}

/** Drops the copies of parts, whatever they say. */
async function dropCopies(sql: Sql, parts: RawBuilder<unknown>): Promise<void> {
  const { rows } = await raw<{ channel: string; account: string; platform_message_id: string }>`
    select channel, account, platform_message_id from outbox
    where ${parts} and platform_message_id is not null
  `.execute(sql);
  const [one] = rows;
  if (one === undefined) return;
  const ids = new Set(rows.map((row) => row.platform_message_id));
  await dropWhere(sql, one, (value) => {
    const copy = Copy.safeParse(parsed(value));
    return copy.success && ids.has(copy.data.id ?? '');
  });
}

function holdsWords(value: string, without: Without): boolean {
  const copy = Copy.safeParse(parsed(value));
  const text = copy.success ? Buffer.from(copy.data.content, 'base64').toString('utf8') : value;
  return without(text) !== text;
}

function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    // No JSON is looked at as the text it is.
    return null;
  }
}

/**
 * Takes words out of the recorded prompts of conversations (P17). A text is known by its hash and may
 * belong to prompts of others: these keep it, and the changed text gets a hash of its own.
 */
export async function forgetInPrompts(
  sql: Sql,
  conversations: readonly string[],
  without: (value: unknown) => unknown,
): Promise<number> {
  if (conversations.length === 0) return 0;
  const rows = await sql
    .selectFrom('turn_prompt')
    .select(['turn_id', 'parts'])
    .where('conversation_id', 'in', conversations)
    .execute();
  const renamed = new Map<string, string | null>();
  let count = 0;
  for (const row of rows) {
    let parts = row.parts;
    for (const hash of hashesOf(row)) {
      if (!renamed.has(hash)) renamed.set(hash, await changedText(sql, hash, without));
      const fresh = renamed.get(hash) ?? null;
      if (fresh !== null) parts = parts.replaceAll(JSON.stringify(hash), JSON.stringify(fresh));
    }
    if (parts === row.parts) continue;
    await sql
      .updateTable('turn_prompt')
      .set({ parts })
      .where('turn_id', '=', row.turn_id)
      .execute();
    count += 1;
  }
  for (const [hash, fresh] of renamed) if (fresh !== null) await dropUnused(sql, hash);
  return count;
}

/** The hash of the text without the words, stored already; null where they are not in it. */
async function changedText(
  sql: Sql,
  hash: string,
  without: (value: unknown) => unknown,
): Promise<string | null> {
  const row = await sql
    .selectFrom('prompt_text')
    .select(['content', 'used_at'])
    .where('hash', '=', hash)
    .executeTakeFirst();
  if (row === undefined) return null;
  const before = fromJson(row.content);
  const after = without(before);
  if (after === before) return null;
  const text = hashed(String(after));
  await sql
    .insertInto('prompt_text')
    .values({ ...text, used_at: row.used_at })
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .execute();
  return text.hash;
}

async function dropUnused(sql: Sql, hash: string): Promise<void> {
  const used = await sql
    .selectFrom('turn_prompt')
    .select('turn_id')
    .where('parts', 'like', `%${hash.replaceAll(/[%_]/g, '_')}%`)
    .executeTakeFirst();
  if (used === undefined) await sql.deleteFrom('prompt_text').where('hash', '=', hash).execute();
}

/** Drops the texts that no prompt refers to any more, a few at a time. */
export async function dropUnusedTexts(database: Database): Promise<void> {
  const used = new Set<string>();
  for (let after = ''; ; ) {
    const rows = await database.read((sql) =>
      sql
        .selectFrom('turn_prompt')
        .select(['turn_id', 'parts'])
        .where('turn_id', '>', after)
        .orderBy('turn_id')
        .limit(BATCH)
        .execute(),
    );
    for (const { parts } of rows) {
      for (const [hash] of parts.matchAll(/[\w-]{43}/g)) used.add(hash);
    }
    after = rows.at(-1)?.turn_id ?? after;
    await pause();
    if (rows.length < BATCH) break;
  }
  const hashes = await database.read((sql) =>
    sql.selectFrom('prompt_text').select('hash').execute(),
  );
  const unused = hashes.map(({ hash }) => hash).filter((hash) => !used.has(hash));
  for (let at = 0; at < unused.length; at += BATCH) {
    const some = unused.slice(at, at + BATCH);
    await database.write((sql) =>
      sql.deleteFrom('prompt_text').where('hash', 'in', some).execute(),
    );
    await pause();
  }
}

/** Rows of one transaction: short enough that a turn that commits meanwhile hardly waits. */
export const BATCH = 500;

/** Which rows of a table. */
export type Where = RawBuilder<unknown>;

/** What is known of a table with words. */
export function placeOf(table: ForgetPlace['table']): ForgetPlace {
  const place = FORGET_PLACES.find((one) => one.table === table);
  if (place === undefined) throw new Error(`${table} is no place of words.`);
  return place;
}

/** As one parameter, however many there are. */
export function names({ dialect }: Database, values: Iterable<string>): Where {
  const json = toJson([...values]);
  return dialect === 'sqlite'
    ? raw`select value from json_each(${json})`
    : raw`select value from json_array_elements_text(${json}::json)`;
}

/** The same of numbers. */
export function numbers({ dialect }: Database, values: Iterable<number>): Where {
  const json = toJson([...values]);
  return dialect === 'sqlite'
    ? raw`select value from json_each(${json})`
    : raw`select value::bigint from json_array_elements_text(${json}::json)`;
}

/** A letter of what is gone can neither be read nor replayed. */
export async function dropLetters(database: Database, turns: Where, parts: Where): Promise<void> {
  await database.write(async (sql) => {
    await raw`delete from dead_letter where subject in (select id from turn where ${turns})
      or subject in (select id from outbox where ${parts})`.execute(sql);
  });
}

/** Deletes rows, a few in each transaction; how many there were. */
export async function deleteRows(
  database: Database,
  table: ForgetPlace['table'],
  keys: readonly string[],
  where: Where,
): Promise<number> {
  const columns = raw.join(keys.map((key) => raw.ref(key)));
  return inBatches(database, async (sql) => {
    const { numAffectedRows = 0n } = await raw`
      delete from ${raw.table(table)} where (${columns}) in
        (select ${columns} from ${raw.table(table)} where ${where} limit ${BATCH})
    `.execute(sql);
    return Number(numAffectedRows);
  });
}

/** Rows by which repetitions are known and to which others refer stay, without a word in them. */
export async function emptyRows(
  database: Database,
  place: ForgetPlace,
  where: Where,
  mark: string,
): Promise<number> {
  if (place.table === 'turn') {
    const reason = raw`${where} and reason is not null`;
    return inBatches(database, async (sql) => {
      const { numAffectedRows = 0n } =
        await raw`update turn set reason = null where ${reason}`.execute(sql);
      return Number(numAffectedRows);
    });
  }
  // What was not sent yet is never sent.
  const unsent = raw`${where} and state = 'pending'`;
  let count = place.table === 'outbox' ? await deleteRows(database, 'outbox', ['id'], unsent) : 0;
  const { rows } = await database.read((sql) =>
    raw<{ first: number | null; last: number | null }>`
      select min(seq) as first, max(seq) as last from ${raw.table(place.table)} where ${where}
    `.execute(sql),
  );
  const [{ first, last } = { first: null, last: null }] = rows;
  if (first === null || last === null) return count;
  const without = withoutTexts(mark);
  for (let from = Number(first); from <= Number(last); from += BATCH) {
    const some = raw`(${where}) and seq >= ${from} and seq < ${from + BATCH}`;
    count += await database.write(async (sql) => {
      if (place.table === 'outbox') await dropCopies(sql, some);
      return rewritePlace(sql, { ...place, of: () => some }, '', without);
    });
    await pause();
  }
  return count;
}

async function inBatches(database: Database, one: (sql: Sql) => Promise<number>): Promise<number> {
  let count = 0;
  for (;;) {
    const changed = await database.write(one);
    count += changed;
    await pause();
    if (changed < BATCH) return count;
  }
}
