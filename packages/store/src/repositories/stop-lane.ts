import type { Sql } from '../database.ts';
import type { CommandResult } from '../inbox.ts';
import { withdrawApprovals } from './decide-approval.ts';
import { RUNNING, WAITING } from './literals.ts';
import { giveBackOverheard } from './overheard-repository.ts';

/**
 * Stops what runs on a lane and sets aside what waits there. The caller keeps other writers of the
 * lane waiting.
 */
export async function stopLane(
  sql: Sql,
  conversationId: string,
  now: number,
): Promise<Pick<CommandResult, 'stoppedTurn' | 'setAside'>> {
  await fence(sql, conversationId);
  await withdrawApprovals(sql, conversationId, null, now);
  return {
    stoppedTurn: await stopTurn(sql, conversationId, now),
    setAside: await setAside(sql, conversationId, now),
  };
}

/** From here on the running worker can write nothing more, and the next may begin at once. */
async function fence(sql: Sql, conversationId: string): Promise<void> {
  await sql
    .updateTable('conversation')
    .set((eb) => ({ epoch: eb('epoch', '+', 1), lease_owner: null, lease_until: null }))
    .where('id', '=', conversationId)
    .execute();
}

async function stopTurn(sql: Sql, conversationId: string, now: number): Promise<string | null> {
  const turn = await sql
    .updateTable('turn')
    .set({ state: 'stopped', finished_at: now })
    .where('conversation_id', '=', conversationId)
    .where('state', '=', RUNNING)
    .returning('id')
    .executeTakeFirst();
  if (turn === undefined) return null;
  await sql
    .updateTable('inbox')
    .set({ state: 'done', outcome: 'stopped' })
    .where('turn_id', '=', turn.id)
    .execute();
  await giveBackOverheard(sql, conversationId, turn.id);
  return turn.id;
}

async function setAside(sql: Sql, conversationId: string, now: number): Promise<number> {
  const result = await sql
    .updateTable('inbox')
    .set({ state: 'done', outcome: 'stopped', done_at: now })
    .where('conversation_id', '=', conversationId)
    .where('state', '=', WAITING)
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}
