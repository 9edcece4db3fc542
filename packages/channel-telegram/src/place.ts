/** The topic that every forum has; messages there carry no number, and sends with it are refused. */
const GENERAL_TOPIC = '1';

/** The id of the topic a message is in; the general one is the chat itself. */
export function topicId(thread: number | undefined): string | undefined {
  return thread === undefined || String(thread) === GENERAL_TOPIC ? undefined : String(thread);
}

/** Where to write: a topic by its number, the chat itself for everything else. */
export function threadOf(threadId: string | undefined): { message_thread_id?: number } {
  if (threadId === undefined || threadId === GENERAL_TOPIC) return {};
  return { message_thread_id: Number(threadId) };
}

/** The message to quote. One whose question is gone by now is sent all the same. */
export function replyTo(messageId: string | undefined): { reply_parameters?: object } {
  const number = messageNumber(messageId);
  if (number === undefined) return {};
  return { reply_parameters: { message_id: number, allow_sending_without_reply: true } };
}

/** Telegram's number of a message; a pressed button has the number of the message it stands below. */
export function messageNumber(messageId: string | undefined): number | undefined {
  const digits = /^\d+/.exec(messageId ?? '')?.[0];
  return digits === undefined ? undefined : Number(digits);
}

/** The id of a press: unique, and the message below which the button stands can be read from it. */
export function pressId(message: number, query: string): string {
  return `${message}:${query}`;
}
