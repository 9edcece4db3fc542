import { forwardOrigin } from './senders.ts';
import { readShown, type Shown } from './shown.ts';
import type { Answered, BotIdentity, WireMessage } from './wire.ts';
import type { Origin } from './wire-basics.ts';

/** A message together with facts that several readers need, computed once. */
export interface ReadMessage {
  readonly message: WireMessage;
  /** The message that this one replies to, if a person chose to reply to it. */
  readonly answered: Answered | undefined;
  /** The origin of a forwarded message; undefined when the sender wrote it. */
  readonly origin: Origin | undefined;
  readonly shown: Shown;
}

/** Reads a message; `me` is the bot; mentions of it need no URL after them. */
export function readMessage(message: WireMessage, me: BotIdentity): ReadMessage {
  return {
    message,
    answered: answeredMessage(message),
    origin: forwardOrigin(message),
    shown: readShown(message, me),
  };
}

/**
 * In a topic, Telegram marks every message as a reply to the first one, although nobody chose to
 * reply.
 */
function answeredMessage(message: WireMessage): Answered | undefined {
  const answered = message.reply_to_message;
  const isTopicStart =
    message.is_topic_message === true && answered?.message_id === message.message_thread_id;
  return isTopicStart ? undefined : answered;
}
