import { type ApprovalVerdict, decideApproval, withdrawApprovals } from './approvals.ts';
import { type Sql, statement } from './database.ts';
import type { Resend } from './dead-letters.ts';
import { clearGroupContext } from './group-context.ts';
import { applyLink, type LinkAction, type LinkAsker, type LinkResult } from './links.ts';
import {
  type ConversationMode,
  changeMode,
  changeModel,
  type ModeChange,
  type ModelChange,
  type PlanRun,
  takePlan,
} from './modes.ts';
import { approveRequest, type PairingRequest, pendingRequests } from './pairing.ts';
import { resendUncertain } from './replay-dead-letter.ts';
import type { AdmittedMessage } from './rows.ts';
import { setResultsAside, stopLane, stopOwn, stopSubAgents } from './stop-lane.ts';

/** What a command does to its conversation in the transaction that stores it. */
export type CommandEffect =
  | { readonly kind: 'none' }
  /** `/new`: later turns start with an empty history. */
  | { readonly kind: 'new-session' }
  /**
   * `/stop`: fences the running turn (its epoch is passed), marks it stopped and sets aside every
   * message stored before the command. With `senderId` only what that person alone asked for.
   */
  | { readonly kind: 'stop'; readonly senderId?: string }
  /** `/pair`: allows the sender of the code (null: none), and lists who waits. */
  | { readonly kind: 'pair'; readonly code: string | null }
  | { readonly kind: 'mode'; readonly to: ConversationMode | null }
  /** `/model`; `to` null: that of the settings. */
  | { readonly kind: 'model'; readonly change: { readonly to: string | null } | 'show' }
  /** `/run`; `plan` as its button names it (null: the newest), `text` is what the message says that runs it. */
  | {
      readonly kind: 'run-plan';
      readonly plan: string | null;
      readonly text: string;
    }
  /** `/approve` and `/deny`; without a code nothing is decided. `by` is the person: `telegram:42`. */
  | {
      readonly kind: 'decide';
      readonly code: string | null;
      readonly verdict: 'approved' | 'denied';
      readonly by: string;
    }
  /**
   * `/resend`: a part of this chat that may have arrived is sent again. `key` is its idempotency key (null: the
   * newest such part). With `senderId` only if it answers that person.
   */
  | { readonly kind: 'resend'; readonly key: string | null; readonly senderId?: string }
  | { readonly kind: 'link'; readonly asker: LinkAsker; readonly action: LinkAction };

/** What a command's effect found, so that the answer can say it. */
export interface CommandResult {
  readonly duplicate: boolean;
  /** A turn was running (or waiting to be resumed) and is now stopped. */
  readonly stoppedTurn: string | null;
  /** Messages that waited and were set aside. */
  readonly setAside: number;
  /** Of `/stop` and `/new`: the lanes of the sub-agents that ran and are now stopped. */
  readonly stoppedSubAgents?: readonly string[];
  /** Of `/pair`: who was allowed, and who still waits. */
  readonly pairing?: {
    readonly approved: PairingRequest | null;
    readonly pending: readonly PairingRequest[];
  };
  /** Of `/mode`. */
  readonly mode?: ModeChange;
  /** Of `/model` and `/status`. */
  readonly model?: ModelChange;
  /** Of `/run`. */
  readonly plan?: PlanRun;
  /** Of `/approve` and `/deny`. */
  readonly approval?: ApprovalVerdict;
  /** Of `/resend`. */
  readonly resend?: Resend;
  /** Of `/link`. */
  readonly link?: LinkResult;
}

type Found = Omit<CommandResult, 'duplicate'>;

const NOTHING: Found = { stoppedTurn: null, setAside: 0 };

const NEW_SESSION = statement(
  'update conversation set session = session + 1, plan = null where id = :conversationId',
);

/**
 * Does to a conversation what a command asks for. The caller has locked it, so all that waits was
 * stored before the command.
 */
export async function applyCommand(
  sql: Sql,
  { conversationId, message, route, receivedAt: now }: AdmittedMessage,
  effect: CommandEffect,
): Promise<Found> {
  switch (effect.kind) {
    case 'none':
      return NOTHING;
    case 'new-session':
      sql.send(NEW_SESSION, { conversationId });
      clearGroupContext(sql, conversationId);
      setResultsAside(sql, conversationId);
      return { ...NOTHING, stoppedSubAgents: await stopSubAgents(sql, conversationId, now) };
    case 'stop':
      if (effect.senderId !== undefined) return stopOwn(sql, conversationId, effect.senderId, now);
      withdrawApprovals(sql, conversationId, `${message.channel}:${message.sender.id}`, now);
      return {
        ...(await stopLane(sql, conversationId, now)),
        stoppedSubAgents: await stopSubAgents(sql, conversationId, now),
      };
    case 'mode':
      return { ...NOTHING, mode: await changeMode(sql, conversationId, effect.to) };
    case 'model':
      return { ...NOTHING, model: await changeModel(sql, conversationId, effect.change) };
    case 'run-plan':
      return { ...NOTHING, plan: await takePlan(sql, conversationId, effect.plan) };
    case 'decide':
      return { ...NOTHING, approval: await decideApproval(sql, conversationId, effect, now) };
    case 'resend':
      return { ...NOTHING, resend: await resendUncertain(sql, route, effect, now) };
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
