import { ParleyError } from '@parley/core';
import { toolArguments } from '@parley/models';
import type { Approval, ClaimedTurn, Lease, NewApproval } from '@parley/store';
import type { JournalledCall } from '../loop/turn-journal.ts';
import type { CallMoment, Proposal, Tool } from '../tools/tool.ts';
import { isPlaceholder, type ToolSet } from '../tools/tool-registry.ts';
import { leadingMessage } from '../turn-opening.ts';
import type { TurnServices } from '../turn-services.ts';
import { isSometimes, isSpared, needOf, subjectOf } from './approval-policy.ts';
import {
  type AskedPlace,
  changedText,
  noApproverText,
  othersText,
  placeToAsk,
  questionFor,
  refusalText,
  tooLongText,
} from './approval-question.ts';
import { MOST_SHOWN, shownArguments } from './shown-arguments.ts';

type GateServices = TurnServices & NonNullable<TurnServices['approvals']>;

/** `approved`: run it exactly as it was approved. `refused`: the text explains it to the model. */
type GateVerdict =
  | { readonly kind: 'run'; readonly approved: boolean }
  | { readonly kind: 'refused'; readonly text: string }
  | { readonly kind: 'fenced' };

export type ApprovalGate = ReturnType<typeof openGate>;

/** More taken codes in a row mean that `newCode` is not random. */
const MAX_CODES = 5;

export function openGate(deps: GateServices, turn: ClaimedTurn, lease: Lease) {
  const { approvals } = deps.store;
  return {
    /**
     * Whether a call may run. Where a person must be asked first, the question and the suspension of
     * the turn are stored together and TurnSuspendedError is thrown; the run after the decision finds
     * the decision here.
     */
    async check(
      tool: Tool,
      { key, call }: JournalledCall,
      tools: ToolSet,
      moment: CallMoment,
      proposal: Proposal | null,
    ): Promise<GateVerdict> {
      if (isPlaceholder(tools, tool.name)) return RUN;
      const decided = await approvals.of(turn.turnId, key);
      const input = toolArguments(call);
      const shown = shownArguments(proposal?.shown ?? input);
      if (decided !== null) return verdictOf(decided, tool, shown);
      // Invalid arguments are never run, so they need no approval.
      if (input === null || !tool.input.safeParse(input).success) return RUN;
      const schema = tools.offered.find(({ name }) => name === tool.name)?.inputSchema;
      const subject = subjectOf(schema?.properties, input);
      const isFree = isSpared(tool, input, moment);
      const need = needOf(tool, subject, deps.rules, isFree, proposal);
      if (need === 'never') return RUN;
      const asked = { tool: tool.name, callKey: key, shown };
      if (need === 'auto') return allow(deps, turn, lease, asked);
      const { name, asksAbout = `this call of \`${name}\`` } = tool;
      // Strangers must not call an owner, nor a group wait, for what a person can simply name.
      if (moment.reader.kind !== 'owner' && moment.untrustedText && isSometimes(tool, deps.rules))
        return { kind: 'refused', text: othersText(name, asksAbout) };
      if (asked.shown.length > MOST_SHOWN)
        return { kind: 'refused', text: tooLongText(name, asked.shown) };
      const place = await placeToAsk(deps, turn);
      if (place === null) return { kind: 'refused', text: noApproverText(name) };
      return ask(deps, turn, lease, { ...asked, place });
    },
  };
}

const RUN: GateVerdict = { kind: 'run', approved: false };

/** `shown`: the question as it would be now; it differs if the file has changed since it was approved. */
function verdictOf(approval: Approval, { proposes }: Tool, shown: string): GateVerdict {
  switch (approval.state) {
    case 'approved':
    case 'auto':
      return proposes === undefined || approval.shown === shown
        ? { kind: 'run', approved: true }
        : { kind: 'refused', text: changedText(approval.tool) };
    case 'denied':
    case 'expired':
    case 'withdrawn':
      return { kind: 'refused', text: refusalText(approval, approval.state) };
    case 'pending':
      throw new TurnSuspendedError(approval.tool);
  }
}

type Asked = Pick<NewApproval, 'tool' | 'callKey' | 'shown'>;

async function allow(
  deps: GateServices,
  turn: ClaimedTurn,
  lease: Lease,
  asked: Asked,
): Promise<GateVerdict> {
  const approval = newApproval(deps, turn, asked);
  const result = await deps.store.approvals.allow(lease, approval, deps.clock());
  return result === 'fenced' ? { kind: 'fenced' } : { kind: 'run', approved: true };
}

async function ask(
  deps: GateServices,
  turn: ClaimedTurn,
  lease: Lease,
  { place, ...asked }: Asked & { readonly place: AskedPlace },
): Promise<GateVerdict> {
  for (let tried = 0; tried < MAX_CODES; tried += 1) {
    const approval = newApproval(deps, turn, asked, place.conversationId);
    const parts = await questionFor(approval, place, deps.rules.waitMs);
    if (parts === null) return { kind: 'refused', text: tooLongText(asked.tool, asked.shown) };
    const result = await deps.store.approvals.ask(lease, approval, parts, deps.clock());
    if (result === 'fenced') return { kind: 'fenced' };
    if (result === 'code-taken') continue;
    deps.log.info({ turn: turn.turnId, tool: asked.tool }, 'waits for an approval');
    for (const { route } of parts) await deps.deliver(route.channel, route.account, route.chatId);
    throw new TurnSuspendedError(asked.tool);
  }
  throw new Error(`${MAX_CODES} codes for an approval in a row were taken; newCode is broken.`);
}

function newApproval(
  { rules, newCode, clock }: GateServices,
  turn: ClaimedTurn,
  asked: Asked,
  askedIn = turn.conversationId,
): NewApproval {
  const { message } = leadingMessage(turn);
  const { channel, sender, chat } = message;
  return {
    ...asked,
    code: newCode(),
    turnId: turn.turnId,
    askedBy: `${channel}:${sender.id}`,
    place: `${channel} ${chat.type} ${chat.id}`,
    askedIn,
    approvers: rules.approvers,
    expiresAt: clock() + rules.waitMs,
  };
}

/** A turn waits for a person's decision. Thrown to leave the loop; nothing has failed. */
export class TurnSuspendedError extends ParleyError {
  constructor(tool: string) {
    super({
      code: 'turn-suspended',
      message: `The turn waits for a decision about ${tool}; it goes on when that is made.`,
      retryable: true,
    });
  }
}
