import type { Sql } from '../database.ts';
import type { Joining, LaneRepository } from '../lanes.ts';
import type { InboxRow, Lease } from '../rows.ts';
import { waitingMessages } from './claim-turn.ts';
import { lockLeased } from './conversation.ts';
import { WAITING } from './literals.ts';
import { readyMessages } from './ready-messages.ts';
import { isUnfinished, storeStep } from './turn-repository.ts';
import { withoutUnfetched } from './wait-for-attachments.ts';

interface Join {
  readonly lease: Lease;
  readonly joining: Joining;
  readonly now: number;
}

/** Gives a running turn what waits behind it, and its journal the steps that say so, or nothing at all. */
export async function joinTurn(
  sql: Sql,
  { lease, joining, now }: Join,
): ReturnType<LaneRepository['join']> {
  const conversation = await lockLeased(sql, lease);
  const { turnId, mode } = joining;
  if (conversation === null || !(await isUnfinished(sql, lease, turnId))) return { kind: 'fenced' };
  // What was written after these commands is meant for a turn that obeys them.
  if (mode !== undefined && conversation.mode !== mode) return { kind: 'none' };
  if (!(await isOfSession(sql, turnId, conversation.session))) return { kind: 'none' };
  const rows = await joiningNow(sql, lease.conversationId, joining, now);
  const last = rows.at(-1);
  if (last === undefined) return { kind: 'none' };
  await sql
    .updateTable('inbox')
    .set({ state: 'claimed', turn_id: turnId, claimed_at: now })
    .where('conversation_id', '=', lease.conversationId)
    .where('state', '=', WAITING)
    // The oldest of what waits, without a gap: the order of the lane stays (D02).
    .where('seq', '<=', last.seq)
    .execute();
  for (const step of joining.steps(rows)) await storeStep(sql, turnId, step, now);
  return { kind: 'joined', rows };
}

async function joiningNow(
  sql: Sql,
  conversationId: string,
  { mayJoin }: Joining,
  now: number,
): Promise<readonly InboxRow[]> {
  const waiting = await waitingMessages(sql, conversationId, 'steer');
  const ready = readyMessages(waiting, 'steer', now);
  if (ready.kind !== 'now') return [];
  const rows = await withoutUnfetched(sql, ready.rows, now);
  const end = rows.findIndex((row) => !mayJoin(row));
  return end === -1 ? rows : rows.slice(0, end);
}

async function isOfSession(sql: Sql, turnId: string, session: number): Promise<boolean> {
  const turn = await sql
    .selectFrom('turn')
    .select('session')
    .where('id', '=', turnId)
    .executeTakeFirst();
  return turn?.session === session;
}
