import { ChannelError, type OutboundPart, type Receipt } from '@parley/core';
import type { ChannelAdapter } from '../adapter.ts';

/**
 * Performs the action of a message part on a message of its chat.
 * @throws ChannelError
 */
export async function performAction(
  { messages }: Pick<ChannelAdapter, 'messages'>,
  { id, act, route, body }: OutboundPart,
): Promise<Receipt> {
  const { chatId, threadId } = route;
  const address = { chatId, threadId };
  switch (act?.kind) {
    case 'react':
      await requireAction(messages?.react)(address, act.messageId, act.emoji);
      break;
    case 'edit':
      await requireAction(messages?.edit)(address, act.messageId, body);
      break;
    case 'delete':
      await requireAction(messages?.delete)(address, act.messageId);
      break;
    case undefined:
      throw new Error(`Part ${id} has no action on a message.`);
  }
  // An action does not create a message.
  return { platformMessageId: `act:${id}` };
}

function requireAction<Act>(act: Act | undefined): Act {
  if (act !== undefined) return act;
  const message = 'This channel cannot do that to a message.';
  throw new ChannelError({ kind: 'refused' }, message);
}
