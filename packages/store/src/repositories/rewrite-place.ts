import type { Sql } from '../database.ts';
import { fromJson, toJson } from '../json-column.ts';
import { raw } from '../kysely.ts';
import type { ForgetPlace } from './forget-places.ts';

/** A value without some words; the same value, not a copy, where they are not in it. */
export type Without = (value: unknown) => unknown;

/** Takes words out of the rows of one conversation in one table; how many rows are changed. */
export async function rewritePlace(
  sql: Sql,
  { table, keys, words, of }: ForgetPlace,
  conversation: string,
  without: Without,
): Promise<number> {
  const columns = [...new Set([...keys, ...Object.keys(words)])].map((name) => raw.ref(name));
  const { rows } = await raw<Record<string, unknown>>`
    select ${raw.join(columns)} from ${raw.table(table)} where ${of(conversation)}
  `.execute(sql);
  let count = 0;
  for (const row of rows) {
    const changes = Object.entries(words).flatMap(([column, form]) => {
      const text = changedText(row[column], form, without);
      return text === null ? [] : [raw`${raw.ref(column)} = ${text}`];
    });
    if (changes.length === 0) continue;
    const itself = keys.map((key) => raw`${raw.ref(key)} = ${row[key]}`);
    await raw`
      update ${raw.table(table)} set ${raw.join(changes)} where ${raw.join(itself, raw` and `)}
    `.execute(sql);
    count += 1;
  }
  return count;
}

/** Null: there is nothing to change. */
function changedText(stored: unknown, form: 'json' | 'plain', without: Without): string | null {
  if (typeof stored !== 'string') return null;
  const before = form === 'json' ? fromJson(stored) : stored;
  const after = without(before);
  if (after === before) return null;
  return form === 'json' ? toJson(after) : String(after);
}
