import type { InboundMessage } from '@parley/contracts';
import type { BotIdentity, WireMessage, WireUser } from './wire-message.ts';

type Sender = InboundMessage['sender'];

/** What the platform writes about a chat rather than a person in it; such messages carry one of these. */
const SERVICE =
  /^(?:new_chat_|left_chat_|delete_chat_|(?:super)?group_chat_created|channel_chat_created|message_auto_delete_|migrate_|pinned_message|forum_topic_|general_forum_topic_|video_chat_|boost_added|chat_background_|chat_shared|chat_owner_|users_shared|write_access_|proximity_alert_|giveaway|gift|unique_gift|checklist_tasks_|direct_message_price|paid_message_price|suggested_post_(?!info)|successful_payment|refunded_payment|connected_website|web_app_data|passport_data)/;

/**
 * Who wrote. An anonymous administrator, a person who speaks as their channel and the author of a
 * post are people of whom only the chat is known, and count as that chat. What the platform says,
 * what a channel forwards by itself and what came through this bot is nobody's (F07).
 */
export function senderOf(message: WireMessage, me: BotIdentity): Sender {
  const { from, sender_chat, chat, author_signature } = message;
  const nobodys =
    Object.keys(message).some((field) => SERVICE.test(field)) ||
    message.is_automatic_forward === true ||
    message.via_bot?.id === me.id;
  if (sender_chat === undefined && from !== undefined) {
    const person = personOf(from);
    return { ...person, isBot: person.isBot || nobodys };
  }
  const { id, title = '' } = sender_chat ?? chat;
  return { id: String(id), name: author_signature ?? title, isBot: nobodys };
}

/** A user as the core knows people. */
export function personOf(user: WireUser): Sender {
  const { id, first_name, last_name, username, is_bot } = user;
  return {
    id: String(id),
    name: [first_name, last_name].filter(Boolean).join(' '),
    ...(username === undefined ? {} : { username }),
    isBot: is_bot,
  };
}
