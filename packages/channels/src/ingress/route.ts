import type { Capabilities, InboundMessage, ReplyRoute } from '@parley/contracts';
import type { AnswerStyle } from './decide.ts';

/** The route of the answer (F11), fixed here for good; groups quote the message that is answered. */
export function routeOf(
  message: InboundMessage,
  capabilities: Capabilities,
  { mentions, numbered }: AnswerStyle,
): ReplyRoute {
  const { channel, account, chat, messageId } = message;
  return {
    channel,
    account,
    chatId: chat.id,
    chatType: chat.type,
    ...(chat.threadId === undefined ? {} : { threadId: chat.threadId }),
    ...(chat.type === 'direct' ? {} : { replyToMessageId: messageId }),
    ...(capabilities.quotes === true ? { quotes: true } : {}),
    target: {
      ...capabilities.target,
      ...(mentions === 'live' ? { mentions } : {}),
      ...(numbered ? { numbered } : {}),
    },
  };
}
