import { withdrawApprovals } from './approvals.ts';
import type { CommandResult } from './commands.ts';
import type { Sql } from './database.ts';
import { INBOX_COLUMNS, readInboxRow } from './inbox-rows.ts';
import { RUNNING, WAITING } from './literals.ts';
import { giveBackOverheard } from './overheard.ts';
import { COMPLETION } from './sub-agent-rows.ts';

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

/**
 * Ends all running sub-agents of a conversation with people, and gives back the names of their lanes;
 * with `parent` only those that it has started itself.
 * The caller has locked the conversation; lanes nearer to it are written first, so that nobody waits
 * for another in a circle.
 */
export async function stopSubAgents(
  sql: Sql,
  root: string,
  now: number,
  parent?: string,
): Promise<string[]> {
  const all = sql
    .selectFrom('sub_agent')
    .select(['id', 'conversation_id'])
    .where('root_conversation', '=', root)
    .where('state', '=', RUNNING)
    .orderBy('depth');
  const running = await (parent === undefined
    ? all
    : all.where('parent_conversation', '=', parent)
  ).execute();
  for (const { id, conversation_id } of running) {
    await stopLane(sql, conversation_id, now);
    await sql
      .updateTable('sub_agent')
      .set({ state: 'stopped', finished_at: now })
      .where('id', '=', id)
      .execute();
  }
  return running.map(({ conversation_id }) => conversation_id);
}

/** What sub-agents have found waits to be told: a session that was begun anew did not ask for it. */
export async function setResultsAside(sql: Sql, root: string): Promise<void> {
  await sql
    .updateTable('inbox')
    .set({ state: 'done', outcome: 'stopped' })
    .where('conversation_id', '=', root)
    .where('state', '=', WAITING)
    .where('message_id', 'in', (runs) =>
      runs
        .selectFrom('sub_agent')
        .select(({ eb, ref, val }) => eb(ref('id'), '||', val(COMPLETION)).as('message_id'))
        .where('root_conversation', '=', root),
    )
    .execute();
}
