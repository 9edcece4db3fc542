import type { NewId } from '@parley/contracts';
import type { ApprovalRepository, NewApproval } from '../approvals.ts';
import type { Database, Sql } from '../database.ts';
import type { Lease, NewPart } from '../rows.ts';
import { approvalOf, newApprovalRow, readApprovalRow } from './approval-row.ts';
import { lockLeased } from './conversation.ts';
import { expireApprovals } from './decide-approval.ts';
import { RUNNING } from './literals.ts';
import { insertParts } from './new-parts.ts';

/** Questions to people on SQL. */
export function approvalRepository(database: Database, newId: NewId): ApprovalRepository {
  return {
    ask: (lease, approval, parts, now) =>
      database.write((sql) => ask(sql, { lease, approval, parts, now, newId })),

    allow: (lease, approval, now) =>
      database.write(async (sql) => {
        if (!(await mayWrite(sql, lease, approval.turnId))) return 'fenced';
        await sql
          .insertInto('approval')
          .values(newApprovalRow(approval, lease.conversationId, 'auto', now))
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        return 'committed';
      }),

    of: (turnId, callKey) => database.read((sql) => approvalOf(sql, turnId, callKey)),

    expire: (now) => database.write((sql) => expireApprovals(sql, now)),

    recent: (limit) =>
      database.read(async (sql) => {
        const rows = await sql
          .selectFrom('approval')
          .selectAll()
          .orderBy('seq', 'desc')
          .limit(limit)
          .execute();
        return rows.map(readApprovalRow);
      }),
  };
}

interface Asking {
  readonly lease: Lease;
  readonly approval: NewApproval;
  readonly parts: readonly NewPart[];
  readonly now: number;
  readonly newId: NewId;
}

async function ask(
  sql: Sql,
  { lease, approval, parts, now, newId }: Asking,
): ReturnType<ApprovalRepository['ask']> {
  if (!(await mayWrite(sql, lease, approval.turnId))) return 'fenced';
  const row = await sql
    .insertInto('approval')
    .values(newApprovalRow(approval, lease.conversationId, 'pending', now))
    .onConflict((conflict) => conflict.doNothing())
    .returning('seq')
    .executeTakeFirst();
  if (row === undefined) {
    const known = await approvalOf(sql, approval.turnId, approval.callKey);
    return known === null ? 'code-taken' : 'asked';
  }
  await sql
    .updateTable('turn')
    // It has come this far, so its worker did not die of it: the count of attempts begins anew.
    .set({ awaits: approval.code, attempts: 0 })
    .where('id', '=', approval.turnId)
    .execute();
  // No parts of the answer, so of no turn.
  insertParts(sql, parts, { turnId: null, now, newId });
  return 'asked';
}

/** Whether the lease still holds the lane and this is its unfinished turn. */
async function mayWrite(sql: Sql, lease: Lease, turnId: string): Promise<boolean> {
  if ((await lockLeased(sql, lease)) === null) return false;
  const running = await sql
    .selectFrom('turn')
    .select('id')
    .where('conversation_id', '=', lease.conversationId)
    .where('state', '=', RUNNING)
    .executeTakeFirst();
  return running?.id === turnId;
}
