import type { ApprovalVerdict } from '../approvals.ts';
import type { Sql } from '../database.ts';
import { approvalByCode, readApprovalRow } from './approval-row.ts';
import { OPEN_APPROVAL } from './literals.ts';

/** What somebody decided; `code` null: they only want to know what waits. */
export interface ApprovalDecision {
  readonly code: string | null;
  readonly verdict: 'approved' | 'denied';
  /** `telegram:42`. */
  readonly by: string;
}

/**
 * Decides a question in the conversation where it was put, and people have read it, once: of several
 * presses the first counts, and none after its time. All who
 * close questions write the question first and its turn second, so they cannot wait in a circle.
 */
export async function decideApproval(
  sql: Sql,
  conversationId: string,
  { code, verdict, by }: ApprovalDecision,
  now: number,
): Promise<ApprovalVerdict> {
  if (code === null) return { kind: 'pending', approvals: await openIn(sql, conversationId, now) };
  const row = await sql
    .updateTable('approval')
    .set({ state: verdict, decided_by: by, decided_at: now })
    .where('code', '=', code)
    .where('state', '=', OPEN_APPROVAL)
    .where('expires_at', '>', now)
    .where('asked_in', '=', conversationId)
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) {
    const approval = await approvalByCode(sql, code);
    if (approval === null) return { kind: 'unknown' };
    return approval.askedIn === conversationId
      ? { kind: 'closed', approval }
      : { kind: 'elsewhere' };
  }
  await letGoOn(sql, [row]);
  return { kind: 'decided', approval: readApprovalRow(row) };
}

/** Whatever stops a turn ends its waiting, too. */
export async function withdrawApprovals(
  sql: Sql,
  conversationId: string,
  by: string | null,
  now: number,
): Promise<void> {
  await sql
    .updateTable('approval')
    .set({ state: 'withdrawn', decided_by: by, decided_at: now })
    .where('conversation_id', '=', conversationId)
    .where('state', '=', OPEN_APPROVAL)
    .execute();
}

/** Closes what nobody decided in time; the conversations whose turns go on. */
export async function expireApprovals(sql: Sql, now: number): Promise<readonly string[]> {
  const rows = await sql
    .updateTable('approval')
    .set({ state: 'expired', decided_at: now })
    .where('state', '=', OPEN_APPROVAL)
    .where('expires_at', '<=', now)
    .returningAll()
    .execute();
  await letGoOn(sql, rows);
  return [...new Set(rows.map((row) => row.conversation_id))];
}

async function letGoOn(
  sql: Sql,
  rows: readonly { readonly turn_id: string; readonly code: string }[],
): Promise<void> {
  for (const { turn_id, code } of rows) {
    await sql
      .updateTable('turn')
      .set({ awaits: null })
      .where('id', '=', turn_id)
      .where('awaits', '=', code)
      .execute();
  }
}

async function openIn(sql: Sql, conversationId: string, now: number) {
  const rows = await sql
    .selectFrom('approval')
    .selectAll()
    .where('asked_in', '=', conversationId)
    .where('state', '=', OPEN_APPROVAL)
    .where('expires_at', '>', now)
    .orderBy('seq')
    .execute();
  return rows.map(readApprovalRow);
}
