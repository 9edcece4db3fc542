import { InboundMessage } from '@parley/core';

/** A plain direct message for tests, changed where a case needs it. */
export function aMessage(
  change: Partial<Omit<InboundMessage, 'chat' | 'sender'>> & {
    chat?: Partial<InboundMessage['chat']>;
    sender?: Partial<InboundMessage['sender']>;
  } = {},
): InboundMessage {
  return InboundMessage.parse({
    channel: 'telegram',
    account: 'default',
    messageId: '1',
    text: 'hello',
    addressed: false,
    sentAt: 1_000,
    ...change,
    chat: { id: '42', type: 'direct', ...change.chat },
    sender: { id: '42', name: 'Ada', isBot: false, ...change.sender },
  });
}
