import type { Sql } from '../database.ts';
import type { CommandEffect, CommandResult } from '../inbox.ts';
import type { AdmittedMessage } from '../rows.ts';
import { applyLink } from './link-effect.ts';
import { RUNNING, WAITING } from './literals.ts';
import { clearOverheard, giveBackOverheard } from './overheard-repository.ts';
import { approveRequest, pendingRequests } from './pairing-repository.ts';

type Found = Omit<CommandResult, 'duplicate'>;

const NOTHING: Found = { stoppedTurn: null, setAside: 0 };

/**
 * Does to a conversation what a command asks for. The caller has locked it, so all that waits was
 * stored before the command.
 */
export async function applyCommand(
  sql: Sql,
  { conversationId, route, receivedAt: now }: AdmittedMessage,
  effect: CommandEffect,
): Promise<Found> {
  switch (effect.kind) {
    case 'none':
      return NOTHING;
    case 'new-session':
      await sql
        .updateTable('conversation')
        .set((eb) => ({ session: eb('session', '+', 1) }))
        .where('id', '=', conversationId)
        .execute();
      await clearOverheard(sql, conversationId);
      return NOTHING;
    case 'stop':
      await fence(sql, conversationId);
      return {
        stoppedTurn: await stopTurn(sql, conversationId, now),
        setAside: await setAside(sql, conversationId),
      };
    case 'link': {
      const { asker, action } = effect;
      const link = await applyLink(sql, asker, action, route, now);
      return { ...NOTHING, link };
    }
    case 'pair': {
      const approved = effect.code === null ? null : await approveRequest(sql, effect.code, now);
      return { ...NOTHING, pairing: { approved, pending: await pendingRequests(sql, now) } };
    }
  }
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

async function setAside(sql: Sql, conversationId: string): Promise<number> {
  const result = await sql
    .updateTable('inbox')
    .set({ state: 'done', outcome: 'stopped' })
    .where('conversation_id', '=', conversationId)
    .where('state', '=', WAITING)
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}
