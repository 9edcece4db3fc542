import type { Capabilities, InboundMessage, ReplyRoute } from '@parley/contracts';

/** The route of the answer (F11), fixed here for good; groups quote the message that is answered. */
export function routeOf(message: InboundMessage, capabilities: Capabilities): ReplyRoute {
  const { channel, account, chat, messageId } = message;
  return {
    channel,
    account,
    chatId: chat.id,
    ...(chat.threadId === undefined ? {} : { threadId: chat.threadId }),
    ...(chat.type === 'direct' ? {} : { replyToMessageId: messageId }),
    target: capabilities.target,
  };
}
