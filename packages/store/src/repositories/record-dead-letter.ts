import type { Sql } from '../database.ts';
import { HEARTBEAT_LANE } from '../heartbeats.ts';
import { statement } from '../statement.ts';
import { SUB_AGENT_LANE } from '../sub-agents.ts';

// Told twice, because the answer of a first call was lost, it is one letter.
const RECORD = statement(`
  insert into dead_letter (kind, subject, died_at) values (:kind, :subject, :now)
  on conflict do nothing`);
/** A notice about another part is no letter. */
const RECORD_PART = statement(`
  insert into dead_letter (kind, subject, died_at)
  select :kind, id, :now from outbox where id = :partId and notice_of is null
  on conflict do nothing`);

/** Notes a part that is given up, in that transaction. */
export function recordDeadPart(
  sql: Sql,
  partId: string,
  state: 'failed' | 'unknown',
  now: number,
): void {
  sql.send(RECORD_PART, { partId, kind: state === 'failed' ? 'refused' : 'uncertain', now });
}

/** Notes a turn that fails, in that transaction, unless no person waits for its answer. */
export function recordDeadTurn(
  sql: Sql,
  conversationId: string,
  turnId: string,
  now: number,
): void {
  const lanes = [SUB_AGENT_LANE, HEARTBEAT_LANE];
  if (lanes.some((lane) => conversationId.startsWith(lane))) return;
  sql.send(RECORD, { kind: 'unanswered', subject: turnId, now });
}
