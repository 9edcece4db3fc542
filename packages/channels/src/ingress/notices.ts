import type { InboundMessage } from '@parley/core';
import { toPersonId } from './sender.ts';

/** Sent for messages that crashed the process each time they were received. */
export const GIVEN_UP =
  '⚙️ Something went wrong each time I tried to read what you sent last, and I have given up on it. Please put it in other words; the log shows the error.';

/** Explains to a stranger how to get access; sent only in direct chats. */
export function createStrangerNotice(message: InboundMessage): string {
  const key = `channels.${message.channel}`;
  return [
    'This bot is private and does not know you yet.',
    `If it is yours, add \`${toPersonId(message)}\` to \`owners\` in its settings file.`,
    `To allow another person, add \`"${message.sender.id}"\` to \`${key}.access.allow\`.`,
  ].join('\n\n');
}

/** Sent for a message that was too long. Lengths in characters. */
export function createTooLongNotice(length: number, limit: number): string {
  return `That message has ${length} characters, but I can read only ${limit} at once. Please send it in smaller pieces.`;
}

/** Sent when a chat already has too many waiting messages (D07). */
export function createOverflowNotice(waiting: number): string {
  return `I did not accept that message, because ${waiting} of your messages are still waiting for an answer. Please wait a little, or send /stop to drop them.`;
}

/** Sent when too many messages wait in all chats together (D07). */
export const NO_ROOM =
  'I did not accept that message, because too many messages in other chats are waiting for an answer. Please send it again in a few minutes.';
