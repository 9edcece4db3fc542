import type { InboundMessage } from '@parley/contracts';

/**
 * The lane and history a message belongs to: one per chat and thread, so that one person's direct
 * chat, a group, and each thread of a group never share a word.
 */
export function conversationIdOf(
  message: Pick<InboundMessage, 'channel' | 'account' | 'chat'>,
): string {
  const { channel, account, chat } = message;
  const parts = [channel, account, chat.id];
  if (chat.threadId !== undefined) parts.push(chat.threadId);
  // A colon inside an id would let two places share a name.
  return parts.map((part) => encodeURIComponent(part)).join(':');
}
