import { decideApproval, describeApprovalVerdict } from './approval-text.ts';
import { chatCommand } from './command.ts';

export const deny = chatCommand({
  name: 'deny',
  summary: 'refuse what I asked for',
  takes: 'CODE',
  rest: 'code',
  who: 'approver',
  async run(context, transaction) {
    const { verdict, follows } = await decideApproval(context, transaction, 'denied');
    return { ...follows, answer: describeApprovalVerdict(verdict) };
  },
});
