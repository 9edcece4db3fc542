import { type CommandInfo, parseCommand } from '@parley/channels';
import type { Authored, Chat, InboundMessage } from '@parley/core';
import { resolveAddressing } from './address.ts';
import { listMessageAttachments } from './attachments.ts';
import { createEphemeralResponse, toMessageId } from './ephemeral.ts';
import { findEventReason } from './message-fields.ts';
import { formatMessageId, toChat, toChatInThread, toThreadId } from './places.ts';
import { getQuotation, getReply, markForwarded } from './quotes.ts';
import { type ParsedMessage, parseMessage } from './read-message.ts';
import { parseRichText } from './rich-text.ts';
import { getMessageSender } from './senders.ts';
import { readVisibleContent, renderMessageText } from './shown.ts';
import type { AnsweredMessage, BotIdentity, WireMessage } from './wire.ts';
import type { MessageEntity } from './wire-basics.ts';

/** Converts a Telegram message into an inbound message (F01). */
export function toInbound(
  message: WireMessage,
  account: string,
  me: BotIdentity,
  commands: readonly CommandInfo[] = [],
): InboundMessage {
  const read = parseMessage(message, me);
  const { text, mentions, addressed } = resolveAddressing(read, me, commands);
  const attachments = listMessageAttachments(read);
  const chat = { ...toMessageChat(message, text), ...toGuestFields(message) };
  return {
    channel: 'telegram',
    account,
    messageId: formatMessageId(chat.threadId, toMessageId(message)),
    chat,
    sender: getMessageSender(message, me),
    text: markForwarded(renderMessageText(read, text, chat.type), read.origin),
    authored: findAuthoredText(read, chat, me),
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(message.media_group_id === undefined ? {} : { albumId: message.media_group_id }),
    ...getReply(read, chat.threadId, me),
    ...getQuotation(read),
    ...createEphemeralResponse(message, message.from),
    mentions: [...mentions],
    addressed,
    sentAt: message.date * 1000,
    variables: {},
  };
}

/** A guest bot can be asked in any kind of chat, so an access list may name the person who asks. */
function toGuestFields({ guest_query_id: query, from }: WireMessage): Pick<Chat, 'within'> {
  return query === undefined || from === undefined ? {} : { within: `guest:${from.id}` };
}

/**
 * The chat of a message. In a group, messages visible only to the sender and the bot have a
 * separate conversation, so that they never appear in an answer to the others. Parley's commands
 * still apply to the conversation of the whole group.
 */
function toMessageChat(message: WireMessage, text: string): Chat {
  const { ephemeral_message_id: whispered, from } = message;
  if (whispered === undefined || from === undefined || parseCommand(text) !== null)
    return toChat(message);
  return toChatInThread(toThreadId({ kind: 'alone', person: String(from.id) }), message);
}

/**
 * The reason why a message does not start a turn and is not passed to the agent; undefined for
 * content that a person sent.
 */
export function findIgnoreReason(message: WireMessage): string | undefined {
  const { chat, gift, unique_gift, suggested_post_declined: declined } = message;
  if (chat.is_direct_messages === true && message.direct_messages_topic === undefined)
    return (
      findEventReason(message) ??
      'a direct message to a channel cannot be answered without its topic'
    );
  if (declined !== undefined && !declined.comment)
    return 'it reports the state of a suggested post';
  const given = gift ?? unique_gift;
  if (given !== undefined && !given.text && toChat(message).type !== 'direct')
    return 'it reports a gift without a message';
  return findEventReason(message);
}

/**
 * The text that the sender typed or spoke. Forwarded messages, and messages that a bot sent in a
 * person's name, do not contain that person's text. Contacts, places, polls and the like are
 * rendered as text that nobody typed in this chat.
 */
function findAuthoredText(read: ParsedMessage, { type }: Chat, me: BotIdentity): Authored {
  const { message, answered } = read;
  const isDirect = type === 'direct';
  const isQuoteKnown = answered !== undefined && isQuoteOfSender(message, answered, isDirect, me);
  const quote = isQuoteKnown ? { quote: true as const } : {};
  if (BY_OTHERS.some((field) => field in message)) return quote;
  return {
    ...(isTyped(read) && { text: true }),
    ...(message.voice !== undefined && { voice: true }),
    ...quote,
  };
}

/** Whether everything read from a message was typed and none of it is marked as a quotation. */
function isTyped({ message, shown }: ParsedMessage): boolean {
  const { words, cards, unread } = shown;
  if (words === '' || cards.length > 0 || unread !== undefined) return false;
  const { text, entities, caption, caption_entities, rich_message: rich } = message;
  if (rich !== undefined) return !parseRichText(rich).quotes;
  return text === undefined
    ? !isQuotation(caption ?? '', caption_entities)
    : !isQuotation(text, entities);
}

/** Whether the entire text is marked as a quotation and was therefore written by somebody else. */
function isQuotation(text: string, entities: readonly MessageEntity[]): boolean {
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

/** Whether a quotation contains the sender's own text or, in a direct chat, this bot's text. */
function isQuoteOfSender(
  message: WireMessage,
  answered: AnsweredMessage,
  isDirect: boolean,
  me: BotIdentity,
): boolean {
  if (BY_OTHERS.some((field) => field in answered)) return false;
  const { cards, unread } = readVisibleContent({ ...answered, reply_markup: undefined });
  if (cards.length > 0 || unread !== undefined) return false;
  const { from, sender_chat } = message;
  const writer = answered.sender_chat?.id ?? answered.from?.id;
  if (writer === undefined) return false;
  return writer === (sender_chat?.id ?? from?.id) || (isDirect && writer === me.id);
}
