import { type InboundMessage, shownBlock } from '@parley/contracts';
import type { Approval, ApprovalVerdict, CommandEffect } from '@parley/store';
import { personId } from './decide.ts';
import { typedCode } from './pairing.ts';

/** Characters of the code of an approval: 30 bits, valid for minutes, and of use to approvers alone. */
export const APPROVAL_CODE_LENGTH = 6;

/** The effect of `/approve` and `/deny`; without an argument it only asks what waits. */
export function approvalEffect(
  name: 'approve' | 'deny',
  argument: string,
  message: InboundMessage,
): CommandEffect {
  const code = argument === '' ? null : typedCode(argument, APPROVAL_CODE_LENGTH);
  if (argument !== '' && code === null) return { kind: 'none' };
  const verdict = name === 'approve' ? 'approved' : 'denied';
  return { kind: 'decide', code, verdict, by: personId(message) };
}

/**
 * What `/approve` and `/deny` answer, in Markdown. What waits is shown whole, as the question itself
 * showed it in this conversation.
 */
export function approvalText(verdict: ApprovalVerdict | undefined): string {
  switch (verdict?.kind) {
    case 'decided':
      return verdict.approval.state === 'approved'
        ? `Allowed: \`${verdict.approval.tool}\`.`
        : `Refused: \`${verdict.approval.tool}\`.`;
    case 'closed':
      return closedText(verdict.approval);
    case 'pending':
      return pendingText(verdict.approvals);
    case 'elsewhere':
      return 'I asked that in another chat. It can be read whole there, and is decided there.';
    case 'unknown':
    case undefined:
      return 'I have asked nothing with that code.';
  }
}

function closedText({ state, tool }: Approval): string {
  switch (state) {
    case 'approved':
      return `That was decided already: \`${tool}\` was allowed.`;
    case 'denied':
      return `That was decided already: \`${tool}\` was refused.`;
    case 'withdrawn':
      return 'That is over: I was stopped before anybody decided.';
    case 'auto':
      return `Nobody had to decide that: \`${tool}\` is allowed by the settings.`;
    case 'expired':
    // Its time is up, and nobody has looked since.
    case 'pending':
      return `Too late: without an answer I have left \`${tool}\`.`;
  }
}

/** Characters of calls that one list shows; the first is shown in any case. */
const MOST_LISTED = 24_000;

function pendingText(approvals: readonly Approval[]): string {
  if (approvals.length === 0) return 'Nothing waits for a decision in this conversation.';
  const questions: string[] = [];
  let length = 0;
  for (const { code, tool, shown } of approvals) {
    length += shown.length;
    if (length > MOST_LISTED && questions.length > 0) break;
    const decide = `\`/approve ${code}\` or \`/deny ${code}\``;
    questions.push(`\`${tool}\`: ${decide}\n${shownBlock(shown)}`);
  }
  const more = approvals.length - questions.length;
  // A code stands only beside its call.
  const rest = more === 0 ? [] : [`${more} more wait; I show them once these are decided.`];
  return ['Waiting for a decision:', ...questions, ...rest].join('\n\n');
}
