import type { CommandInfo } from '@parley/channels';
import type { InboundMessage } from '@parley/contracts';
import { addressOf, answeredMessage } from './addressed.ts';
import { attachmentsOf } from './attachments.ts';
import { topicId } from './place.ts';
import { personOf, senderOf } from './sender.ts';
import { spokenContent } from './spoken-content.ts';
import type { BotIdentity, WireMessage } from './wire-message.ts';

/** Turns a Telegram message into what the core knows of it (F01). */
export function toInbound(
  message: WireMessage,
  account: string,
  me: BotIdentity,
  commands: readonly CommandInfo[] = [],
): InboundMessage {
  const { text, mentions, addressed } = addressOf(message, me, commands);
  const attachments = attachmentsOf(message);
  return {
    channel: 'telegram',
    account,
    messageId: String(message.message_id),
    chat: chatOf(message),
    sender: senderOf(message, me),
    text: withOrigin(text || spokenContent(message), message),
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(message.media_group_id === undefined ? {} : { albumId: message.media_group_id }),
    ...replyOf(message),
    mentions: [...mentions],
    addressed,
    sentAt: message.date * 1000,
    variables: {},
  };
}

/** A place as the core knows it; a message and a press both have one. */
type Place = Pick<WireMessage, 'chat' | 'is_topic_message' | 'message_thread_id'>;

/** The chat, and its topic. Outside forums `message_thread_id` merely groups replies: no thread. */
export function chatOf({ chat, ...place }: Place): InboundMessage['chat'] {
  const topic = place.is_topic_message === true ? topicId(place.message_thread_id) : undefined;
  return {
    id: String(chat.id),
    type: chatTypeOf(chat.type, topic !== undefined),
    ...(chat.title === undefined ? {} : { title: chat.title }),
    ...(topic === undefined ? {} : { threadId: topic }),
  };
}

function chatTypeOf(
  type: WireMessage['chat']['type'],
  inTopic: boolean,
): InboundMessage['chat']['type'] {
  if (type === 'private') return 'direct';
  if (type === 'channel') return 'channel';
  return inTopic ? 'thread' : 'group';
}

/** Says who wrote forwarded words, so that they are not taken for the sender's own, or for a command. */
function withOrigin(text: string, { forward_origin }: WireMessage): string {
  if (forward_origin === undefined || text === '') return text;
  const { sender_user, sender_user_name, sender_chat, chat } = forward_origin;
  const names = [
    sender_user && personOf(sender_user).name,
    sender_user_name,
    (sender_chat ?? chat)?.title,
  ];
  return `[Forwarded from ${names.find(Boolean) ?? 'somebody'}]\n${text}`;
}

function replyOf(message: WireMessage): Pick<InboundMessage, 'replyTo'> {
  const answered = answeredMessage(message);
  if (answered === undefined) return {};
  const text = message.quote?.text ?? answered.text ?? answered.caption;
  return {
    replyTo: {
      messageId: String(answered.message_id),
      ...(answered.from === undefined ? {} : { senderId: String(answered.from.id) }),
      ...(text === undefined ? {} : { text }),
    },
  };
}
