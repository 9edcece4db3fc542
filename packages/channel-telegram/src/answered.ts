import type { Answered, WireMessage } from './wire.ts';

/** The message that another one answers, if a person chose it: in a topic every message "answers" its first one. */
export function answeredMessage(message: WireMessage): Answered | undefined {
  const answered = message.reply_to_message;
  const isTopicStart =
    message.is_topic_message === true && answered?.message_id === message.message_thread_id;
  return isTopicStart ? undefined : answered;
}
