import { type CommandInfo, parseCommand } from '@parley/channels';
import type { Authored, Chat, InboundMessage } from '@parley/core';
import { readAddressing } from './address.ts';
import { messageAttachments } from './attachments.ts';
import { aloneResponse, toMessageId } from './ephemeral.ts';
import { eventReason } from './message-fields.ts';
import { chatAt, messageIdIn, threadIdOf, toChat } from './places.ts';
import { markForwarded, quotationOf, readReply } from './quotes.ts';
import { type ReadMessage, readMessage } from './read-message.ts';
import { richTextOf } from './rich-text.ts';
import { messageSender } from './senders.ts';
import { readShown, textOfMessage } from './shown.ts';
import type { Answered, BotIdentity, WireMessage } from './wire.ts';
import type { Entity } from './wire-basics.ts';

/** Converts a Telegram message into an inbound message (F01). */
export function toInbound(
  message: WireMessage,
  account: string,
  me: BotIdentity,
  commands: readonly CommandInfo[] = [],
): InboundMessage {
  const read = readMessage(message, me);
  const { text, mentions, addressed } = readAddressing(read, me, commands);
  const attachments = messageAttachments(read);
  const chat = { ...chatFor(message, text), ...guestOf(message) };
  return {
    channel: 'telegram',
    account,
    messageId: messageIdIn(chat.threadId, toMessageId(message)),
    chat,
    sender: messageSender(message, me),
    text: markForwarded(textOfMessage(read, text, chat.type), read.origin),
    authored: findAuthored(read, chat, me),
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(message.media_group_id === undefined ? {} : { albumId: message.media_group_id }),
    ...readReply(read, chat.threadId, me),
    ...quotationOf(read),
    ...aloneResponse(message, message.from),
    mentions: [...mentions],
    addressed,
    sentAt: message.date * 1000,
    variables: {},
  };
}

/** A guest bot can be asked in any kind of chat, so an access list may name the person who asks. */
function guestOf({ guest_query_id: query, from }: WireMessage): Pick<Chat, 'within'> {
  return query === undefined || from === undefined ? {} : { within: `guest:${from.id}` };
}

/**
 * The chat of a message. In a group, messages visible only to the sender and the bot have a
 * separate conversation, so that they never appear in an answer to the others. Parley's commands
 * still apply to the conversation of the whole group.
 */
function chatFor(message: WireMessage, text: string): Chat {
  const { ephemeral_message_id: whispered, from } = message;
  if (whispered === undefined || from === undefined || parseCommand(text) !== null)
    return toChat(message);
  return chatAt(threadIdOf({ kind: 'alone', person: String(from.id) }), message);
}

/**
 * The reason why a message starts no turn and is not passed to the agent; undefined for content
 * that a person sent.
 */
export function ignoredReason(message: WireMessage): string | undefined {
  const { chat, gift, unique_gift, suggested_post_declined: declined } = message;
  if (chat.is_direct_messages === true && message.direct_messages_topic === undefined)
    return eventReason(message) ?? 'a direct message to a channel without its topic has no answer';
  if (declined !== undefined && !declined.comment)
    return 'it reports the state of a suggested post';
  const given = gift ?? unique_gift;
  if (given !== undefined && !given.text && toChat(message).type !== 'direct')
    return 'it reports a gift, without words';
  return eventReason(message);
}

/**
 * The text that the sender typed or spoke. Forwarded messages, and messages that a bot sent in a
 * person's name, contain none of that person's text. Contacts, places, polls and the like are
 * rendered as text that nobody typed in this chat.
 */
function findAuthored(read: ReadMessage, { type }: Chat, me: BotIdentity): Authored {
  const { message, answered } = read;
  const isDirect = type === 'direct';
  const isQuoteKnown = answered !== undefined && isQuoteOfTheirs(message, answered, isDirect, me);
  const quote = isQuoteKnown ? { quote: true as const } : {};
  if (BY_OTHERS.some((field) => field in message)) return quote;
  return {
    ...(isTyped(read) && { text: true }),
    ...(message.voice !== undefined && { voice: true }),
    ...quote,
  };
}

/** Whether everything read from a message was typed and none of it is marked as a quotation. */
function isTyped({ message, shown }: ReadMessage): boolean {
  const { words, cards, unread } = shown;
  if (words === '' || cards.length > 0 || unread !== undefined) return false;
  const { text, entities, caption, caption_entities, rich_message: rich } = message;
  if (rich !== undefined) return !richTextOf(rich).quotes;
  return text === undefined
    ? !isQuotation(caption ?? '', caption_entities)
    : !isQuotation(text, entities);
}

/** Whether the entire text is marked as a quotation and was therefore written by somebody else. */
function isQuotation(text: string, entities: readonly Entity[]): boolean {
  const quotations = entities.filter(({ type }) => /^(?:expandable_)?blockquote$/.test(type));
  const own = quotations
    .toSorted((a, b) => b.offset - a.offset)
    .reduce((rest, { offset, length }) => {
      return rest.slice(0, offset) + rest.slice(offset + length);
    }, text);
  return quotations.length > 0 && own.trim() === '';
}

/**
 * A message with one of these fields was written by another person, or by a bot in the sender's
 * name.
 */
const BY_OTHERS: readonly string[] = [
  'forward_origin',
  'via_bot',
  'sender_business_bot',
  'is_automatic_forward',
  // Servers from before 2023 set this instead of `forward_origin`.
  'forward_date',
];

/** Whether a quotation contains the sender's own text, or in a direct chat that of this bot. */
function isQuoteOfTheirs(
  message: WireMessage,
  answered: Answered,
  isDirect: boolean,
  me: BotIdentity,
): boolean {
  if (BY_OTHERS.some((field) => field in answered)) return false;
  const { cards, unread } = readShown({ ...answered, reply_markup: undefined });
  if (cards.length > 0 || unread !== undefined) return false;
  const { from, sender_chat } = message;
  const writer = answered.sender_chat?.id ?? answered.from?.id;
  if (writer === undefined) return false;
  return writer === (sender_chat?.id ?? from?.id) || (isDirect && writer === me.id);
}
