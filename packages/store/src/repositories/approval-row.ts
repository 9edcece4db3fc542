import type { Insertable, Selectable } from 'kysely';
import type { Approval, NewApproval } from '../approvals.ts';
import type { Sql } from '../database.ts';
import type { ApprovalTable } from '../tables/work-tables.ts';

/** The row of a question that is being asked, or that the settings have answered already. */
export function newApprovalRow(
  approval: NewApproval,
  conversationId: string,
  state: 'pending' | 'auto',
  now: number,
): Insertable<ApprovalTable> {
  return {
    code: approval.code,
    conversation_id: conversationId,
    turn_id: approval.turnId,
    call_key: approval.callKey,
    tool: approval.tool,
    shown: approval.shown,
    asked_by: approval.askedBy,
    place: approval.place,
    asked_in: approval.askedIn,
    // Ids of people hold no white space.
    approvers: approval.approvers.join('\n'),
    state,
    asked_at: now,
    expires_at: approval.expiresAt,
    decided_at: state === 'auto' ? now : null,
  };
}

/** A stored question as the other packages know it. */
export function readApprovalRow(row: Selectable<ApprovalTable>): Approval {
  return {
    code: row.code,
    conversationId: row.conversation_id,
    turnId: row.turn_id,
    callKey: row.call_key,
    tool: row.tool,
    shown: row.shown,
    askedBy: row.asked_by,
    place: row.place,
    askedIn: row.asked_in ?? row.conversation_id,
    approvers: row.approvers === '' ? [] : row.approvers.split('\n'),
    state: row.state,
    askedAt: row.asked_at,
    expiresAt: row.expires_at,
    decidedBy: row.decided_by,
    decidedAt: row.decided_at,
    result: row.result,
  };
}

/** The question with this code; null when there is none. */
export async function approvalByCode(sql: Sql, code: string): Promise<Approval | null> {
  const row = await sql
    .selectFrom('approval')
    .selectAll()
    .where('code', '=', code)
    .executeTakeFirst();
  return row === undefined ? null : readApprovalRow(row);
}

/** The question about a call; null when there is none. */
export async function approvalOf(
  sql: Sql,
  turnId: string,
  callKey: string,
): Promise<Approval | null> {
  const row = await sql
    .selectFrom('approval')
    .selectAll()
    .where('turn_id', '=', turnId)
    .where('call_key', '=', callKey)
    .executeTakeFirst();
  return row === undefined ? null : readApprovalRow(row);
}
