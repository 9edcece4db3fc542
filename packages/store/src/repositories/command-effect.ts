import type { Database, Sql } from '../database.ts';
import type { CommandEffect, CommandResult } from '../inbox.ts';
import { applyLink } from '../links.ts';
import { approveRequest, pendingRequests } from '../pairing.ts';
import type { AdmittedMessage } from '../rows.ts';
import { changeMode, takePlan } from './change-mode.ts';
import { decideApproval, withdrawApprovals } from './decide-approval.ts';
import { clearOverheard } from './overheard-repository.ts';
import { resendUncertain } from './replay-dead-letter.ts';
import { stopLane, stopOwn } from './stop-lane.ts';
import { setResultsAside, stopSubAgents } from './stop-sub-agents.ts';

type Found = Omit<CommandResult, 'duplicate'>;

const NOTHING: Found = { stoppedTurn: null, setAside: 0 };

/**
 * Does to a conversation what a command asks for. The caller has locked it, so all that waits was
 * stored before the command.
 */
export async function applyCommand(
  database: Database,
  sql: Sql,
  { conversationId, message, route, receivedAt: now }: AdmittedMessage,
  effect: CommandEffect,
): Promise<Found> {
  switch (effect.kind) {
    case 'none':
      return NOTHING;
    case 'new-session':
      await sql
        .updateTable('conversation')
        .set((eb) => ({ session: eb('session', '+', 1), plan: null }))
        .where('id', '=', conversationId)
        .execute();
      clearOverheard(sql, conversationId);
      await setResultsAside(sql, conversationId);
      return { ...NOTHING, stoppedSubAgents: await stopSubAgents(sql, conversationId, now) };
    case 'stop':
      if (effect.senderId !== undefined) return stopOwn(sql, conversationId, effect.senderId, now);
      await withdrawApprovals(sql, conversationId, `${message.channel}:${message.sender.id}`, now);
      return {
        ...(await stopLane(sql, conversationId, now)),
        stoppedSubAgents: await stopSubAgents(sql, conversationId, now),
      };
    case 'mode':
      return { ...NOTHING, mode: await changeMode(sql, conversationId, effect.to) };
    case 'run-plan':
      return { ...NOTHING, plan: await takePlan(sql, conversationId, effect.plan) };
    case 'decide':
      return { ...NOTHING, approval: await decideApproval(sql, conversationId, effect, now) };
    case 'resend':
      return { ...NOTHING, resend: await resendUncertain(database, sql, route, effect, now) };
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
