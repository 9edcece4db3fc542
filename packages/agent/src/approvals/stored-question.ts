import type { Lease, NewApproval, NewPart } from '@parley/store';
import { TurnSuspendedError } from '../tools/tool.ts';
import type { TurnServices } from '../turn/means.ts';
import { type Turn, toSenderId } from '../turn/turn.ts';

export type GateServices = TurnServices & NonNullable<TurnServices['approvals']>;

export type CallToApprove = Pick<NewApproval, 'tool' | 'callKey' | 'shown' | 'rule'>;

export function createApproval(
  { rules, newCode, clock }: GateServices,
  turn: Turn,
  asked: CallToApprove,
  askedIn = turn.conversationId,
): NewApproval {
  const { channel, chat } = turn.lead.message;
  return {
    ...asked,
    code: newCode(),
    turnId: turn.turnId,
    askedBy: toSenderId(turn.lead),
    place: `${channel} ${chat.type} ${chat.id}`,
    askedIn,
    approvers: rules.approvers,
    expiresAt: clock() + rules.waitMs,
  };
}

/** If this many codes in a row are already taken, `newCode` is not random. */
const MAX_CODES = 5;

interface QuestionDraft {
  readonly approval: NewApproval;
  readonly parts: readonly NewPart[];
}

/**
 * Stores the question that `make` builds with a new code, wakes its delivery and throws
 * TurnSuspendedError. Returns `none` if the question could not be built.
 */
export async function storeQuestion(
  deps: GateServices,
  turn: Turn,
  lease: Lease,
  make: () => Promise<QuestionDraft | null>,
): Promise<'fenced' | 'none'> {
  for (let tried = 0; tried < MAX_CODES; tried += 1) {
    const made = await make();
    if (made === null) return 'none';
    const { approval, parts } = made;
    const result = await deps.store.approvals.ask(lease, approval, parts, deps.clock());
    if (result === 'fenced') return 'fenced';
    if (result === 'code-taken') continue;
    deps.log.info({ turn: turn.turnId, tool: approval.tool }, 'the turn waits for a person');
    for (const { route } of parts) await deps.deliver(route.channel, route.account, route.chatId);
    throw new TurnSuspendedError(approval.tool);
  }
  throw new Error(
    `${MAX_CODES} new approval codes in a row were already taken; newCode is not random.`,
  );
}

export function formatMinutes(ms: number): string {
  const count = Math.max(1, Math.round(ms / 60_000));
  if (ms < 60_000) return `${Math.round(ms / 1_000)} seconds`;
  return count === 1 ? 'one minute' : `${count} minutes`;
}
