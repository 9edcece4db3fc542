import type { ApprovalVerdict } from '@parley/store';
import { decideApproval, describeApprovalVerdict } from './approval-text.ts';
import { type CommandContext, defineChatCommand } from './command.ts';

export const approve = defineChatCommand({
  name: 'approve',
  summary: 'allow what I asked for',
  takes: 'CODE',
  rest: 'code',
  who: 'approver',
  async run(context, transaction) {
    // Text after the code may restrict the approval, so nothing is decided in that case.
    const argument = context.onward === '' ? context.argument : '';
    const decided = await decideApproval({ ...context, argument }, transaction, 'approved');
    const undecided = explainUndecidedApproval(context, decided.verdict);
    const texts = [
      ...(undecided === null ? [] : [undecided]),
      describeApprovalVerdict(decided.verdict),
    ];
    return { ...decided.follows, answer: texts.join('\n\n') };
  },
});

/** Explains why a text did not decide an approval. */
function explainUndecidedApproval(
  { argument, onward, spoken }: CommandContext,
  verdict: ApprovalVerdict,
): string | null {
  if (verdict.kind !== 'pending' || verdict.approvals.length === 0) return null;
  if (spoken === 'only') {
    return 'Nothing is decided yet: a yes in words counts only directly after a single question. Press a button, or send one of these commands.';
  }
  if (spoken === 'kept') {
    return 'Nothing is decided yet: only a plain yes or no to me decides it, or one of these commands. I will answer your message after that.';
  }
  if (onward === '') return null;
  return `Nothing is decided yet, because there are words after the code: \`/approve ${argument}\` alone allows all of it. I will answer the words after that.`;
}
