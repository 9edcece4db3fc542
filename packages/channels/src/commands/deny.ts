import { decideApproval, describeApprovalVerdict } from './approval-text.ts';
import { defineChatCommand } from './command.ts';

export const deny = defineChatCommand({
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
