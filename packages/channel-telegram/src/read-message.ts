import { getForwardOrigin } from './senders.ts';
import { readVisibleContent, type VisibleContent } from './shown.ts';
import type { AnsweredMessage, BotIdentity, WireMessage } from './wire.ts';
import type { MessageOrigin } from './wire-basics.ts';

/** A message together with facts that several readers need, computed once. */
export interface ParsedMessage {
  readonly message: WireMessage;
  /** The message that this message replies to, if a person chose to reply to it. */
  readonly answered: AnsweredMessage | undefined;
  /** The origin of a forwarded message; undefined when the sender wrote it. */
  readonly origin: MessageOrigin | undefined;
  readonly shown: VisibleContent;
}

/** Reads a message; `me` is the bot, whose mentions are not followed by a URL. */
export function parseMessage(message: WireMessage, me: BotIdentity): ParsedMessage {
  return {
    message,
    answered: findAnsweredMessage(message),
    origin: getForwardOrigin(message),
    shown: readVisibleContent(message, me),
  };
}

/**
 * In a topic, Telegram marks every message as a reply to the first message, although nobody chose
 * to reply.
 */
function findAnsweredMessage(message: WireMessage): AnsweredMessage | undefined {
  const answered = message.reply_to_message;
  const isTopicStart =
    message.is_topic_message === true && answered?.message_id === message.message_thread_id;
  return isTopicStart ? undefined : answered;
}
