import { defineChatCommand } from './command.ts';

export const newSession = defineChatCommand({
  name: 'new',
  summary: 'start again; I forget what was said in this chat',
  takes: '[message]',
  rest: 'message',
  who: 'everyone',
  groupRight: 'needed',
  async run(_context, transaction) {
    const { stoppedSubAgents } = await transaction.startSession();
    return {
      answer: 'A fresh start: I no longer see what was said here before.',
      stop: stoppedSubAgents,
    };
  },
});
