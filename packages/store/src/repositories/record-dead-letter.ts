import type { Sql } from '../database.ts';
import type { DeadLetter } from '../dead-letters.ts';
import { HEARTBEAT_LANE } from '../heartbeats.ts';
import { SUB_AGENT_LANE } from '../sub-agents.ts';

/** Notes a part that is given up, in that transaction; a notice about another part is no letter. */
export async function recordDeadPart(
  sql: Sql,
  partId: string,
  state: 'failed' | 'unknown',
  now: number,
): Promise<void> {
  const part = await sql
    .selectFrom('outbox')
    .select('notice_of')
    .where('id', '=', partId)
    .executeTakeFirst();
  if (part === undefined || part.notice_of !== null) return;
  await record(sql, state === 'failed' ? 'refused' : 'uncertain', partId, now);
}

/** Notes a turn that fails, in that transaction, unless no person waits for its answer. */
export async function recordDeadTurn(
  sql: Sql,
  conversationId: string,
  turnId: string,
  now: number,
): Promise<void> {
  const lanes = [SUB_AGENT_LANE, HEARTBEAT_LANE];
  if (lanes.some((lane) => conversationId.startsWith(lane))) return;
  await record(sql, 'unanswered', turnId, now);
}

/** Told twice, because the answer of a first call was lost, it is one letter. */
async function record(
  sql: Sql,
  kind: DeadLetter['kind'],
  subject: string,
  now: number,
): Promise<void> {
  await sql
    .insertInto('dead_letter')
    .values({ kind, subject, died_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
