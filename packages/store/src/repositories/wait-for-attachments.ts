import type { Sql } from '../database.ts';
import { toJson } from '../json-column.ts';
import type { InboxRow } from '../rows.ts';
import { statement } from '../statement.ts';

/** A message is answered without files that have not arrived this long after it, in ms. */
const LONGEST_WAIT_MS = 60_000;

/**
 * Those of the next messages that may become a turn. While a file of one of them is being fetched all
 * of them wait, so that a picture and the words about it are read together; but the first never longer
 * than `LONGEST_WAIT_MS`, and none before its own files had that time.
 */
export async function withoutUnfetched(
  sql: Sql,
  rows: readonly InboxRow[],
  now: number,
): Promise<readonly InboxRow[]> {
  const [first] = rows;
  const candidates = rows.filter((row) => row.message.attachments && isYoung(row, now));
  if (first === undefined || candidates.length === 0) return rows;
  const seqs = toJson(candidates.map(({ seq }) => seq));
  const unfetched = new Set((await sql.all(UNFETCHED, { seqs })).map(({ seq }) => seq));
  const end = rows.findIndex((row) => unfetched.has(row.seq));
  if (end === -1) return rows;
  return isYoung(first, now) ? [] : rows.slice(0, end);
}

function isYoung(row: InboxRow, now: number): boolean {
  return now - row.receivedAt < LONGEST_WAIT_MS;
}

// The state is written out, because a partial index serves only what names its condition.
const UNFETCHED = statement(`
  select inbox_seq as seq from attachment where state = 'pending'
    and inbox_seq in (select cast(value as bigint) from json_each(:seqs))`).rows<{
  readonly seq: number;
}>();
