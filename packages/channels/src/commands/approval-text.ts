import { formatCallBlock } from '@parley/core';
import type { Approval, ApprovalVerdict, CommandTransaction } from '@parley/store';
import { APPROVAL_CODE_LENGTH, parseTypedCode } from '../ingress/one-time-code.ts';
import { toPersonId } from '../ingress/sender.ts';
import type { CommandAnswer, CommandContext } from './command.ts';

/**
 * Decides the approval with the typed code and returns the answer; without an argument, only lists
 * the pending approvals.
 */
export async function decideApproval(
  { argument, message }: Pick<CommandContext, 'argument' | 'message'>,
  transaction: CommandTransaction,
  verdict: 'approved' | 'denied',
): Promise<{
  readonly verdict: ApprovalVerdict;
  readonly follows: Omit<CommandAnswer, 'answer'>;
}> {
  const code = argument === '' ? null : parseTypedCode(argument, APPROVAL_CODE_LENGTH);
  if (argument !== '' && code === null) return { verdict: { kind: 'unknown' }, follows: {} };
  const by = toPersonId(message);
  const found = await transaction.decideApproval({ code, verdict, by });
  if (found.kind === 'closed') return { verdict: found, follows: { settled: true } };
  if (found.kind !== 'decided') return { verdict: found, follows: {} };
  return { verdict: found, follows: { settled: true, wake: [found.approval.conversationId] } };
}

/**
 * The answer to `/approve` and `/deny`, in Markdown. A pending question is shown in full, with the
 * text of the original question in this conversation.
 */
export function describeApprovalVerdict(verdict: ApprovalVerdict): string {
  switch (verdict.kind) {
    case 'decided':
      return verdict.approval.state === 'approved'
        ? `Allowed: \`${verdict.approval.tool}\`.`
        : `Refused: \`${verdict.approval.tool}\`.`;
    case 'closed':
      return describeClosedApproval(verdict.approval);
    case 'pending':
      return describePendingApprovals(verdict.approvals);
    case 'elsewhere':
      return 'I asked that in another chat. Read and decide it there.';
    case 'unknown':
      return 'There is no question with that code.';
  }
}

function describeClosedApproval({ state, tool }: Approval): string {
  switch (state) {
    case 'approved':
      return `That was already decided: \`${tool}\` was allowed.`;
    case 'denied':
      return `That was already decided: \`${tool}\` was refused.`;
    case 'withdrawn':
      return 'That request has ended: I was stopped before anyone decided.';
    case 'auto':
      return `That needed no decision: the settings allow \`${tool}\`.`;
    case 'expired':
    // Questions are closed with a different text.
    case 'answered':
    // The approval has expired, but its state has not been updated yet.
    case 'pending':
      return `Too late: without an answer I treated \`${tool}\` as refused.`;
  }
}

/** The maximum length of all calls in one list, in characters; the first call is always shown. */
const MAX_LISTED = 24_000;

function describePendingApprovals(approvals: readonly Approval[]): string {
  if (approvals.length === 0) return 'Nothing is waiting for a decision in this conversation.';
  const questions: string[] = [];
  let length = 0;
  for (const { code, tool, shown } of approvals) {
    length += shown.length;
    if (length > MAX_LISTED && questions.length > 0) break;
    const decide = `\`/approve ${code}\` or \`/deny ${code}\``;
    questions.push(`\`${tool}\`: ${decide}\n${formatCallBlock(shown)}`);
  }
  const more = approvals.length - questions.length;
  // A code is shown only together with its call.
  const rest =
    more === 0 ? [] : [`${more} more are waiting; I will show them once these are decided.`];
  return ['Waiting for a decision:', ...questions, ...rest].join('\n\n');
}
