import type { Sql } from '../database.ts';
import type { CommandResult } from '../inbox.ts';
import { withdrawApprovals } from './decide-approval.ts';
import { INBOX_COLUMNS, readInboxRow } from './inbox-row.ts';
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

/**
 * As `stopLane`, for somebody who may not stop others: the running turn only where all its messages
 * are theirs, and of those that wait their own.
 */
export async function stopOwn(
  sql: Sql,
  conversationId: string,
  senderId: string,
  now: number,
): Promise<Pick<CommandResult, 'stoppedTurn' | 'setAside'>> {
  const rows = await sql
    .selectFrom('inbox')
    .leftJoin('turn', 'turn.id', 'inbox.turn_id')
    .select([...INBOX_COLUMNS.map((column) => `inbox.${column}` as const), 'turn.id as turn'])
    .where('inbox.conversation_id', '=', conversationId)
    .where((eb) => eb.or([eb('inbox.state', '=', WAITING), eb('turn.state', '=', RUNNING)]))
    .execute();
  const messages = rows.map((row) => ({
    seq: row.seq,
    turn: row.turn,
    isOwn: readInboxRow(row).message.sender.id === senderId,
  }));
  const running = messages.filter(({ turn }) => turn !== null);
  const waiting = messages.filter(({ turn, isOwn }) => turn === null && isOwn);
  const isOwnTurn = running.length > 0 && running.every(({ isOwn }) => isOwn);
  if (isOwnTurn) {
    await fence(sql, conversationId);
    await withdrawApprovals(sql, conversationId, null, now);
  }
  return {
    stoppedTurn: isOwnTurn ? await stopTurn(sql, conversationId, now) : null,
    setAside: await setAside(
      sql,
      conversationId,
      now,
      waiting.map(({ seq }) => seq),
    ),
  };
}

/** From here on the running worker can write nothing more, and the next may begin at once. */
async function fence(sql: Sql, conversationId: string): Promise<void> {
  await sql
    .updateTable('conversation')
    .set((eb) => ({ epoch: eb('epoch', '+', 1), lease_owner: null, lease_until: null, plan: null }))
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
  giveBackOverheard(sql, conversationId, turn.id);
  return turn.id;
}

async function setAside(
  sql: Sql,
  conversationId: string,
  now: number,
  only?: readonly number[],
): Promise<number> {
  if (only?.length === 0) return 0;
  const all = sql
    .updateTable('inbox')
    .set({ state: 'done', outcome: 'stopped', done_at: now })
    .where('conversation_id', '=', conversationId)
    .where('state', '=', WAITING);
  const result = await (only === undefined ? all : all.where('seq', 'in', only)).executeTakeFirst();
  return Number(result.numUpdatedRows);
}
