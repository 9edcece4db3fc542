import type { InboundMessage } from '@parley/core';
import type { AnsweredMessage, BotIdentity, WireMessage } from './wire.ts';
import type { MessageOrigin, WireChat, WireUser } from './wire-basics.ts';

type Sender = InboundMessage['sender'];

/**
 * The author of a message. For an anonymous administrator, a person who writes as their channel, or
 * the author of a post, only the chat is known, so they count as a person with that chat's id.
 * Posts that a channel forwards automatically, messages sent through this bot, and messages that a
 * bot wrote in the name of a business account have no author (F07).
 */
export function getMessageSender(message: WireMessage, me: BotIdentity): Sender {
  const { from, sender_chat, chat, author_signature } = message;
  const hasNoAuthor =
    message.is_automatic_forward === true ||
    message.via_bot?.id === me.id ||
    message.sender_business_bot !== undefined;
  if (sender_chat === undefined && from !== undefined) {
    const person = toSender(from);
    return { ...person, isBot: person.isBot || hasNoAuthor };
  }
  const sender = toChatSender(sender_chat ?? chat);
  return { ...sender, name: author_signature ?? sender.name, isBot: hasNoAuthor };
}

/** A sender who is known only by the chat they write as. */
export function toChatSender({ id, title = '' }: WireChat): Sender {
  return { id: String(id), name: title, isBot: false };
}

/** Converts a Telegram user to a sender. */
export function toSender(user: WireUser): Sender {
  const { id, username, is_bot } = user;
  return {
    id: String(id),
    name: formatPersonName(user),
    ...(username === undefined ? {} : { username }),
    isBot: is_bot,
  };
}

export function formatPersonName({ first_name, last_name }: WireUser): string {
  return [first_name, last_name].filter(Boolean).join(' ');
}

type ForwardedMessage = Pick<
  AnsweredMessage,
  | 'forward_origin'
  | 'forward_date'
  | 'forward_from'
  | 'forward_from_chat'
  | 'forward_sender_name'
  | 'forward_signature'
>;

/** The origin of a forwarded message; undefined if it was not forwarded. */
export function getForwardOrigin(message: ForwardedMessage): MessageOrigin | undefined {
  const { forward_origin: origin, forward_date: date } = message;
  if (origin !== undefined || date === undefined) return origin;
  return {
    sender_user: message.forward_from,
    sender_user_name: message.forward_sender_name,
    chat: message.forward_from_chat,
    author_signature: message.forward_signature,
  };
}

/** The author of a forwarded or quoted message, as far as Telegram reveals it. */
export function getOriginAuthor(origin: MessageOrigin): {
  readonly name: string | undefined;
  readonly id: string | undefined;
} {
  const { sender_user, sender_user_name, author_signature } = origin;
  const chat = origin.sender_chat ?? origin.chat;
  const title = [chat?.title, author_signature && `(${author_signature})`]
    .filter(Boolean)
    .join(' ');
  const names = [sender_user && formatPersonName(sender_user), sender_user_name, title];
  const id = sender_user?.id ?? chat?.id;
  return { name: names.find(Boolean), id: id === undefined ? undefined : String(id) };
}
