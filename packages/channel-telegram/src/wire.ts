import { withoutNulls } from '@parley/channels';
import { z } from 'zod';

const file = { file_id: z.string().min(1), file_size: z.int().nonnegative().optional() };
const described = { ...file, mime_type: z.string().optional(), file_name: z.string().optional() };
const Described = z.object(described);

/** One size of a picture; Telegram gives several. */
const PhotoSize = z.object({ ...file, width: z.int().default(0), height: z.int().default(0) });
export type PhotoSize = z.infer<typeof PhotoSize>;

/** A file inside a message, as far as Parley reads it. Sizes in bytes. */
export type DescribedFile = z.infer<typeof Described>;

const Sticker = z.object({
  ...file,
  emoji: z.string().optional(),
  is_animated: z.boolean().default(false),
  is_video: z.boolean().default(false),
});
export type Sticker = z.infer<typeof Sticker>;

/** The fields of a message that bring a file; a message has at most one, an animation also `document`. */
export const mediaFields = {
  photo: z.array(PhotoSize).optional(),
  document: Described.optional(),
  voice: Described.optional(),
  audio: Described.optional(),
  video: Described.optional(),
  video_note: Described.optional(),
  animation: Described.optional(),
  sticker: Sticker.optional(),
};

/** What a person calls themselves, in a user and in a private chat alike. */
const nameFields = {
  first_name: z.string().default(''),
  last_name: z.string().optional(),
  username: z.string().optional(),
};

const User = z.object({ id: z.int(), is_bot: z.boolean().default(false), ...nameFields });
export type WireUser = z.infer<typeof User>;

const WireChat = z.object({
  id: z.int(),
  type: z.enum(['private', 'group', 'supergroup', 'channel']),
  title: z.string().optional(),
  is_forum: z.boolean().optional(),
});
export type WireChat = z.infer<typeof WireChat>;

/** Who wrote what is forwarded: a person, one who hides, a group or a channel. */
const ForwardOrigin = z.object({
  sender_user: User.optional(),
  sender_user_name: z.string().optional(),
  sender_chat: WireChat.optional(),
  chat: WireChat.optional(),
});

const Entity = z.object({
  type: z.string(),
  /** UTF-16 units, like `length`. */
  offset: z.int(),
  length: z.int(),
  user: User.optional(),
});
export type Entity = z.infer<typeof Entity>;

const Topic = z.object({ name: z.string().optional() });

const content = {
  message_id: z.int(),
  /** Of a message that one person and the bot see; its `message_id` is 0. */
  ephemeral_message_id: z.int().optional(),
  forum_topic_created: Topic.optional(),
  from: User.optional(),
  sender_chat: WireChat.optional(),
  text: z.string().optional(),
  caption: z.string().optional(),
  ...mediaFields,
};

/** What Parley reads of a message; unknown fields stay, so that service messages can be recognized. */
export const WireMessage = z.looseObject({
  ...content,
  /** Seconds since 1970. */
  date: z.int(),
  chat: WireChat,
  entities: z.array(Entity).default([]),
  caption_entities: z.array(Entity).default([]),
  message_thread_id: z.int().optional(),
  is_topic_message: z.boolean().optional(),
  forum_topic_edited: Topic.optional(),
  is_automatic_forward: z.boolean().optional(),
  /** The name an administrator chose to sign a post with. */
  author_signature: z.string().optional(),
  forward_origin: ForwardOrigin.optional(),
  via_bot: User.optional(),
  /** The supergroup that this group has just become. */
  migrate_to_chat_id: z.int().optional(),
  migrate_from_chat_id: z.int().optional(),
  /** The same for all messages of an album. */
  media_group_id: z.string().optional(),
  reply_to_message: z.looseObject({ ...content, date: z.int().default(0) }).optional(),
  quote: z.object({ text: z.string() }).optional(),
});
export type WireMessage = z.infer<typeof WireMessage>;

/** A press of a button. The message with the button has a date of 0 when it is too old. */
export const WirePress = z.object({
  id: z.string().min(1),
  from: User,
  message: z
    .looseObject({
      message_id: z.int(),
      ephemeral_message_id: z.int().optional(),
      date: z.int(),
      chat: WireChat,
      message_thread_id: z.int().optional(),
      is_topic_message: z.boolean().optional(),
    })
    .optional(),
  data: z.string().optional(),
});
export type WirePress = z.infer<typeof WirePress>;

/** A press of the stop button of a draft; its chat is private, so it names the person. */
export const WireStop = z.object({
  chat: z.looseObject({ id: z.int(), ...nameFields }),
  message_thread_id: z.int().optional(),
  draft_id: z.int(),
});
export type WireStop = z.infer<typeof WireStop>;

/** The bot was let into a chat, thrown out, blocked, or given other rights. */
export const WireMembership = z.object({
  chat: WireChat,
  old_chat_member: z.object({ status: z.string() }),
  new_chat_member: z.object({ status: z.string(), can_send_messages: z.boolean().optional() }),
});

/** What one person's reactions to a message are now; the bot's own are not reported. */
export const WireReaction = z.object({
  chat: WireChat,
  message_id: z.int(),
  date: z.int(),
  user: User.optional(),
  /** Who reacts as a chat: an anonymous administrator, or a person as their channel. */
  actor_chat: WireChat.optional(),
  new_reaction: z.array(
    z.object({
      type: z.string(),
      emoji: z.string().optional(),
      custom_emoji_id: z.string().optional(),
    }),
  ),
});
export type WireReaction = z.infer<typeof WireReaction>;

/** An update of any kind; what it brings is checked later, so that a strange one cannot block the rest. */
export const WireUpdate = z.preprocess(withoutNulls, z.looseObject({ update_id: z.int() }));
export type WireUpdate = z.infer<typeof WireUpdate>;

/** The bot itself, from getMe. */
export const BotIdentity = z.object({ id: z.int(), username: z.string() });
export type BotIdentity = z.infer<typeof BotIdentity>;

/** The updates Parley asks for; Telegram keeps all others to itself. */
export const UPDATE_KINDS: readonly string[] = [
  'message',
  'edited_message',
  'channel_post',
  'edited_channel_post',
  'callback_query',
  'my_chat_member',
  'stopped_message_generation',
  // In groups only where the bot is an administrator.
  'message_reaction',
];
