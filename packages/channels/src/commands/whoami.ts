import { toPersonId } from '../ingress/sender.ts';
import { defineChatCommand } from './command.ts';

export const whoami = defineChatCommand({
  name: 'whoami',
  summary: 'how I know you',
  rest: 'none',
  who: 'everyone',
  private: true,
  run: async ({ message }) => ({
    answer: `You are \`${toPersonId(message)}\` in the ${message.chat.type} chat \`${message.chat.id}\`.`,
  }),
});
