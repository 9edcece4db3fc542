import type { InboundMessage } from '@parley/contracts';
import type { Approval, ApprovalVerdict, CommandEffect } from '@parley/store';
import { personId } from './access.ts';
import { typedCode } from './one-time-code.ts';

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

/** What `/approve` and `/deny` answer, in Markdown. It names tools and never arguments: it may be read by others. */
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

function pendingText(approvals: readonly Approval[]): string {
  if (approvals.length === 0) return 'Nothing waits for a decision in this conversation.';
  const lines = approvals.map(
    ({ code, tool }) => `- \`${tool}\`: \`/approve ${code}\` or \`/deny ${code}\``,
  );
  return ['Waiting for a decision:\n', ...lines].join('\n');
}
