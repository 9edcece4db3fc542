import type { Chat } from '@parley/core';
import type { WireMessage } from './wire.ts';
import type { WireChat } from './wire-basics.ts';

/**
 * The place of a message inside a chat. Telegram shows several conversations under one chat id:
 * topics of a forum or private chat, conversations with subscribers who write to a channel, and
 * chats that a bot serves for a person's business account or as a guest. The chat ids of the last
 * two kinds may be identical to those of unrelated chats of the bot.
 */
export type ChatLocation =
  | { readonly kind: 'chat' }
  | { readonly kind: 'topic'; readonly topic: string }
  | { readonly kind: 'subscriber'; readonly topic: string }
  | { readonly kind: 'business'; readonly connection: string }
  | { readonly kind: 'guest'; readonly query: string }
  /** A conversation between one person and the bot in a group. Nobody else sees its messages. */
  | { readonly kind: 'alone'; readonly person: string };

const CHAT: ChatLocation = { kind: 'chat' };
const PREFIXES = {
  topic: 'topic:',
  subscriber: 'direct:',
  business: 'business:',
  guest: 'guest:',
  alone: 'alone:',
} as const;
/**
 * The topic that every forum has. Messages in it have no topic number, and Telegram refuses sends
 * with this number.
 */
const GENERAL_TOPIC = '1';

/** The place encoded as a `chat.threadId`; a topic is just its number, as 0.1.0 stored it. */
export function toThreadId(place: ChatLocation): string | undefined {
  switch (place.kind) {
    case 'chat':
      return undefined;
    case 'topic':
      // A topic of a private chat may have the number that means the general topic in forums.
      return place.topic === GENERAL_TOPIC ? `${PREFIXES.topic}${place.topic}` : place.topic;
    case 'subscriber':
      return `${PREFIXES.subscriber}${place.topic}`;
    case 'business':
      return `${PREFIXES.business}${place.connection}`;
    case 'guest':
      return `${PREFIXES.guest}${place.query}`;
    case 'alone':
      return `${PREFIXES.alone}${place.person}`;
  }
}

export function parseThreadId(threadId: string | undefined): ChatLocation {
  if (threadId === undefined || threadId === GENERAL_TOPIC) return CHAT;
  const after = (prefix: string) =>
    threadId.startsWith(prefix) ? threadId.slice(prefix.length) : undefined;
  const topic = after(PREFIXES.subscriber);
  if (topic !== undefined) return { kind: 'subscriber', topic };
  const connection = after(PREFIXES.business);
  if (connection !== undefined) return { kind: 'business', connection };
  const query = after(PREFIXES.guest);
  if (query !== undefined) return { kind: 'guest', query };
  const person = after(PREFIXES.alone);
  if (person !== undefined) return { kind: 'alone', person };
  return { kind: 'topic', topic: after(PREFIXES.topic) ?? threadId };
}

/**
 * The fields that address a place in a Bot API call. A guest is answered through a separate method.
 */
export function toRequestFields(threadId: string | undefined): {
  readonly message_thread_id?: number;
  readonly direct_messages_topic_id?: number;
  readonly business_connection_id?: string;
} {
  const place = parseThreadId(threadId);
  switch (place.kind) {
    case 'topic':
      return { message_thread_id: Number(place.topic) };
    case 'subscriber':
      return { direct_messages_topic_id: Number(place.topic) };
    case 'business':
      return { business_connection_id: place.connection };
    default:
      return {};
  }
}

/**
 * The id of a message within its place. Chats of business accounts and of guests are numbered
 * separately, and such a chat may have the same id as one of the bot's own chats, so `5` and `5@…`
 * are two messages.
 */
export function formatMessageId(threadId: string | undefined, number: number | string): string {
  const place = parseThreadId(threadId);
  if (place.kind === 'business') return `${number}@${place.connection}`;
  return place.kind === 'guest' ? `${number}@${PREFIXES.guest}${place.query}` : String(number);
}

/**
 * Whether a place is in a chat that is not the bot's own; its chat id may be that of an unrelated
 * chat.
 */
export function isForeignChat(threadId: string | undefined): boolean {
  const { kind } = parseThreadId(threadId);
  return kind === 'business' || kind === 'guest';
}

/** The fields that determine the place of a message, or of the message with a pressed button. */
export type LocatedMessage = Pick<
  WireMessage,
  | 'chat'
  | 'is_topic_message'
  | 'message_thread_id'
  | 'direct_messages_topic'
  | 'business_connection_id'
  | 'guest_query_id'
>;

/** Outside forums and private chats with topics, `message_thread_id` only groups replies. */
export function getMessageLocation(message: LocatedMessage): ChatLocation {
  const { chat, business_connection_id: connection, guest_query_id: query } = message;
  if (connection !== undefined) return { kind: 'business', connection };
  if (query !== undefined) return { kind: 'guest', query };
  const subscriber = message.direct_messages_topic?.topic_id;
  if (subscriber !== undefined) return { kind: 'subscriber', topic: String(subscriber) };
  const { is_topic_message: isInTopic, message_thread_id: thread } = message;
  if (isInTopic !== true || thread === undefined) return CHAT;
  const isGeneral = chat.type !== 'private' && String(thread) === GENERAL_TOPIC;
  return isGeneral ? CHAT : { kind: 'topic', topic: String(thread) };
}

/**
 * The chat and the place in it, as the core represents them. A chat that the owner of a channel or
 * business account can also read is not a direct chat, because direct chats of owners have access
 * to their memory (W02).
 */
export function toChat(message: LocatedMessage): Chat {
  const { chat } = message;
  const place = getMessageLocation(message);
  const threadId = toThreadId(place);
  const title = place.kind === 'business' ? getChatName(chat) : chat.title;
  return {
    id: String(chat.id),
    type: getChatType(chat, place),
    ...(title === undefined ? {} : { title }),
    ...(threadId === undefined ? {} : { threadId }),
    // A topic in a private chat is one of several direct chats with that person.
    ...(chat.type === 'private' && place.kind === 'topic' && { separate: true as const }),
  };
}

/**
 * The chat of a message whose place comes from another source, because Telegram does not include it
 * in every message.
 */
export function toChatInThread(threadId: string | undefined, { chat }: LocatedMessage): Chat {
  const place = parseThreadId(threadId);
  switch (place.kind) {
    case 'topic':
      return toChat({ chat, is_topic_message: true, message_thread_id: Number(place.topic) });
    case 'subscriber':
      return toChat({ chat, direct_messages_topic: { topic_id: Number(place.topic) } });
    case 'alone':
      return { ...toChat({ chat }), type: 'thread', ...(threadId !== undefined && { threadId }) };
    default:
      return toChat({ chat });
  }
}

function getChatType(chat: WireChat, place: ChatLocation): Chat['type'] {
  switch (place.kind) {
    case 'business':
    case 'guest':
      return 'group';
    case 'subscriber':
      return 'thread';
    default:
      if (chat.type === 'private') return 'direct';
      if (chat.type === 'channel') return 'channel';
      return place.kind === 'topic' ? 'thread' : 'group';
  }
}

function getChatName({ title, first_name, last_name }: WireChat): string | undefined {
  const name = [first_name, last_name].filter(Boolean).join(' ');
  return title ?? (name === '' ? undefined : name);
}
