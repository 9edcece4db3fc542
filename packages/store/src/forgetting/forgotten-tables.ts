import {
  decodeJson,
  defineDynamicStatement,
  encodeJson,
  type ParameterValues,
  type Sql,
  type SqlValue,
} from '../database.ts';
import { OF_CONVERSATION } from '../tables/conditions.ts';
import type { ForgetRule } from '../tables/table.ts';
import { listPrimaryKeyColumns, TABLE_LIST, type TableName } from '../tables.ts';
import type { Redact } from './phrase-redactor.ts';

/** A table from which `/forget` removes a conversation's text. */
export interface ForgottenTable extends Required<ForgetRule> {
  readonly table: TableName;
  /** The primary key columns. */
  readonly keys: readonly string[];
  /** The columns that contain text written by people, and whether each column contains JSON. */
  readonly texts: Readonly<Record<string, 'json' | 'plain'>>;
}

/**
 * All tables with text to forget; referring tables come before the tables they refer to. Recorded
 * prompts and adapter state are not included, because other code handles them.
 */
export const FORGOTTEN_TABLES: readonly ForgottenTable[] = TABLE_LIST.toReversed().flatMap(
  ([table, described]) => {
    const { forget, columns } = described;
    if (typeof forget !== 'object') return [];
    const texts = Object.entries(columns).flatMap(([column, { words }]) =>
      words === undefined ? [] : [[column, words] as const],
    );
    return {
      ...{ table, keys: listPrimaryKeyColumns(described), texts: Object.fromEntries(texts) },
      ...{ counts: 'pins', whole: 'rows', of: OF_CONVERSATION },
      ...forget,
    };
  },
);

/** Finds a table by name; throws if `/forget` does not cover it. */
export function getForgottenTable(name: TableName): ForgottenTable {
  const found = FORGOTTEN_TABLES.find(({ table }) => table === name);
  if (found === undefined) throw new Error(`/forget does not remove anything from ${name}.`);
  return found;
}

/** Removes phrases from the rows in one table and returns the number of changed rows. */
export async function rewriteRows(
  sql: Sql,
  { table, keys, texts }: ForgottenTable,
  { where, values }: { readonly where: string; readonly values: ParameterValues },
  without: Redact,
): Promise<number> {
  if (Object.keys(texts).length === 0) return 0;
  const columns = [...new Set([...keys, ...Object.keys(texts)])].join(', ');
  const found = defineDynamicStatement(`select ${columns} from ${table} where ${where}`);
  const itself = keys.map((key) => `${key} = :${key}`).join(' and ');
  let count = 0;
  for (const row of await sql.all(found.rows<Record<string, SqlValue>>(), values)) {
    const changes = Object.entries(texts).flatMap(([column, form]) => {
      const text = redactStoredValue(row[column], form, without);
      return text === null ? [] : [[column, text] as const];
    });
    if (changes.length === 0) continue;
    const set = changes.map(([column]) => `${column} = :new_${column}`).join(', ');
    const changed = Object.fromEntries(changes.map(([column, text]) => [`new_${column}`, text]));
    await sql.run(defineDynamicStatement(`update ${table} set ${set} where ${itself}`), {
      ...row,
      ...changed,
    });
    count += 1;
  }
  return count;
}

/** Returns null if there is nothing to change. */
function redactStoredValue(
  stored: unknown,
  form: 'json' | 'plain',
  without: Redact,
): string | null {
  if (typeof stored !== 'string') return null;
  const before = form === 'json' ? decodeJson(stored) : stored;
  const after = without(before);
  if (after === before) return null;
  return form === 'json' ? encodeJson(after) : String(after);
}
