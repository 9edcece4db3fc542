import type { Sql } from '../database.ts';
import type { InboxRow } from '../rows.ts';
import { PENDING } from './literals.ts';

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
  const unfetched = await messagesWithUnfetched(
    sql,
    candidates.map(({ seq }) => seq),
  );
  const end = rows.findIndex((row) => unfetched.has(row.seq));
  if (end === -1) return rows;
  return isYoung(first, now) ? [] : rows.slice(0, end);
}

function isYoung(row: InboxRow, now: number): boolean {
  return now - row.receivedAt < LONGEST_WAIT_MS;
}

async function messagesWithUnfetched(
  sql: Sql,
  messageSeqs: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await sql
    .selectFrom('attachment')
    .select('inbox_seq')
    .where('inbox_seq', 'in', messageSeqs)
    .where('state', '=', PENDING)
    .execute();
  return new Set(rows.map((row) => row.inbox_seq));
}
