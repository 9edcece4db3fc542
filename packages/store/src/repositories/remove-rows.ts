import { setImmediate as pause } from 'node:timers/promises';
import type { RawBuilder } from 'kysely';
import type { Database, Sql } from '../database.ts';
import { toJson } from '../json-column.ts';
import { raw } from '../kysely.ts';
import { dropCopies } from './forget-in-copies.ts';
import { FORGET_PLACES, type ForgetPlace } from './forget-places.ts';
import { rewritePlace } from './rewrite-place.ts';
import { withoutTexts } from './without-words.ts';

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
