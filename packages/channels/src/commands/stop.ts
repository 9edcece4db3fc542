import type { StoppedWork } from '@parley/store';
import { type CommandSender, defineChatCommand } from './command.ts';

export const stop = defineChatCommand({
  name: 'stop',
  summary: 'stop what I am doing and clear the queue',
  rest: 'none',
  who: 'everyone',
  groupRight: 'limits',
  async run({ conversationId, message, asker }, transaction) {
    const stopped = await transaction.stop(asker.mayChangeChat ? undefined : message.sender.id);
    const isOwn = asker.mayChangeChat || stopped.stoppedTurn !== null;
    return {
      answer: describeStop(stopped, asker),
      stop: [...(isOwn ? [conversationId] : []), ...stopped.stoppedSubAgents],
    };
  },
});

function describeStop(
  { stoppedTurn, setAside, stoppedSubAgents }: StoppedWork,
  { mayChangeChat }: CommandSender,
): string {
  const isStopped = stoppedTurn !== null || stoppedSubAgents.length > 0;
  const nothing = mayChangeChat
    ? 'Nothing was running.'
    : 'I am not working on anything that only you asked for.';
  const stopped = isStopped ? 'Stopped.' : nothing;
  if (setAside === 0) return stopped;
  const messages = setAside === 1 ? 'One waiting message was' : `${setAside} waiting messages were`;
  return `${stopped} ${messages} set aside unanswered.`;
}
