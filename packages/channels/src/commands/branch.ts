import { defineChatCommand } from './command.ts';
import { parseRewindPoint } from './rewind.ts';
import { toServiceCommandSender } from './service-command.ts';

export const branch = defineChatCommand({
  name: 'branch',
  summary: 'open a copy of this conversation on the page, up to a message that you quote',
  rest: 'none',
  who: 'owner',
  private: true,
  prepare: async (context, { services }) => {
    const { replyTo } = context.message;
    const point = replyTo === undefined ? null : parseRewindPoint('', context.message);
    return services.branch?.(toServiceCommandSender(context), point);
  },
  run: async (_context, _transaction, answer) => ({
    answer: answer ?? 'Branches are not available here.',
  }),
});
