import type { InboundMessage } from '@parley/contracts';
import { addressOf, answeredMessage } from './addressed.ts';
import type { BotIdentity, WireMessage } from './wire-message.ts';

/** What the platform writes about a chat rather than a person in it; such messages carry one of these. */
const SERVICE =
  /^(?:new_chat_|left_chat_|delete_chat_|(?:super)?group_chat_created|channel_chat_created|message_auto_delete_|migrate_|pinned_message|forum_topic_|general_forum_topic_|video_chat_|boost_added|chat_background_|chat_shared|users_shared|write_access_|proximity_alert_|giveaway|successful_payment|refunded_payment|connected_website)/;

/** Turns a Telegram message into what the core knows of it (F01). */
export function toInbound(message: WireMessage, account: string, me: BotIdentity): InboundMessage {
  const { text, mentions, addressed } = addressOf(message, me);
  return {
    channel: 'telegram',
    account,
    messageId: String(message.message_id),
    chat: chatOf(message),
    sender: senderOf(message),
    text,
    ...replyOf(message),
    mentions: [...mentions],
    addressed,
    sentAt: message.date * 1000,
    variables: {},
  };
}

/** Only a topic is a thread: outside forums `message_thread_id` merely groups replies. */
function chatOf({
  chat,
  is_topic_message,
  message_thread_id,
}: WireMessage): InboundMessage['chat'] {
  const inTopic = is_topic_message === true && message_thread_id !== undefined;
  return {
    id: String(chat.id),
    type: chatTypeOf(chat.type, inTopic),
    ...(chat.title === undefined ? {} : { title: chat.title }),
    ...(inTopic ? { threadId: String(message_thread_id) } : {}),
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

/** Who speaks for a chat (an anonymous administrator, a linked channel) counts as no person. */
function senderOf(message: WireMessage): InboundMessage['sender'] {
  const { from, sender_chat, chat } = message;
  const service = Object.keys(message).some((field) => SERVICE.test(field));
  const isBot = service || message.is_automatic_forward === true;
  if (from === undefined) {
    const { id, title = '' } = sender_chat ?? chat;
    return { id: String(id), name: title, isBot: true };
  }
  const name = [from.first_name, from.last_name].filter(Boolean).join(' ');
  return {
    id: String(from.id),
    name,
    ...(from.username === undefined ? {} : { username: from.username }),
    isBot: isBot || from.is_bot,
  };
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
