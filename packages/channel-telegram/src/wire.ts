import { withoutNulls } from '@parley/channels';
import { z } from 'zod';
import { toLenientField, toLenientList } from './lenient.ts';
import { Entities, MessageOrigin, mediaFields, Text, User, WireChat } from './wire-basics.ts';
import { cardFields, ownCardFields, Story } from './wire-cards.ts';

const Topic = toLenientField(z.object({ name: Text }));

const content = {
  message_id: z.int(),
  /** The number of a message visible only to one person and the bot; its `message_id` is 0. */
  ephemeral_message_id: z.int().optional(),
  forum_topic_created: Topic,
  from: User.optional(),
  sender_chat: WireChat.optional(),
  text: Text,
  entities: Entities.default([]),
  caption: Text,
  caption_entities: Entities.default([]),
  /** A raw value that is parsed only where needed, because few messages have one. */
  rich_message: z.unknown().optional(),
  ...mediaFields,
  ...cardFields,
  ...ownCardFields,
  forward_origin: MessageOrigin.catch({}).optional(),
  // Sent by servers from before 2023.
  forward_date: z.unknown().optional(),
  forward_from: toLenientField(User),
  forward_from_chat: toLenientField(WireChat),
  forward_sender_name: Text,
  forward_signature: Text,
};

/** A message that another message replies to. */
const Answered = z.looseObject({ ...content, date: z.int().catch(0) });
export type AnsweredMessage = z.infer<typeof Answered>;

/** A message in another chat or topic that was replied to. */
const ExternalReply = z.looseObject({
  ...mediaFields,
  ...cardFields,
  origin: MessageOrigin.catch({}),
  chat: toLenientField(WireChat),
  link_preview_options: ownCardFields.link_preview_options,
});
export type ExternalReply = z.infer<typeof ExternalReply>;

/** The latest date that JavaScript can represent, in seconds since 1970. */
const LAST_DATE = 8_640_000_000_000;

const ConnectionId = z.string().min(1).max(200);

/** The fields that determine the place of a message in its chat. */
const place = {
  message_thread_id: z.int().optional(),
  is_topic_message: z.boolean().optional(),
  /** The subscriber who wrote these direct messages to a channel. */
  direct_messages_topic: z.object({ topic_id: z.int(), user: toLenientField(User) }).optional(),
  business_connection_id: ConnectionId.optional(),
  guest_query_id: ConnectionId.optional(),
};

/**
 * The fields of a message that Parley reads. Unknown fields are kept, so that new kinds of content
 * can be recognized.
 */
export const WireMessage = z.looseObject({
  ...content,
  ...place,
  /** A Unix time in seconds. */
  date: z.int().nonnegative().max(LAST_DATE).catch(0),
  chat: WireChat,
  forum_topic_edited: Topic,
  is_automatic_forward: toLenientField(z.boolean()),
  /** The title with which an administrator signs a post. */
  author_signature: Text,
  via_bot: User.optional(),
  /** The bot that wrote in the name of a business account. */
  sender_business_bot: User.optional(),
  /** The supergroup that this group has just become. */
  migrate_to_chat_id: z.int().optional(),
  migrate_from_chat_id: z.int().optional(),
  /** The album's id, shared by all its messages. */
  media_group_id: toLenientField(z.string().min(1).max(256)),
  reply_to_message: toLenientField(Answered),
  reply_to_checklist_task_id: toLenientField(z.int()),
  reply_to_poll_option_id: Text,
  reply_to_story: toLenientField(Story),
  external_reply: toLenientField(ExternalReply),
  quote: toLenientField(z.object({ text: z.string(), entities: Entities })),
});
export type WireMessage = z.infer<typeof WireMessage>;

/** The message with the button has the date 0 when it is too old. */
export const WirePress = z.object({
  id: z.string().min(1),
  from: User,
  message: z
    .looseObject({
      message_id: z.int(),
      ephemeral_message_id: z.int().optional(),
      date: z.int(),
      chat: WireChat,
      ...place,
    })
    .optional(),
  data: z.string().optional(),
});
export type WirePress = z.infer<typeof WirePress>;

/** A press of the stop button of a draft. The chat is private, so it identifies the person. */
export const WireStop = z.object({
  chat: WireChat.extend({ username: Text }),
  message_thread_id: z.int().optional(),
  draft_id: z.int(),
});
export type WireStop = z.infer<typeof WireStop>;

/** The bot was added to a chat, removed, blocked, or given other rights. */
export const WireMembership = z.object({
  chat: WireChat,
  old_chat_member: z.object({ status: z.string() }),
  new_chat_member: z.object({ status: z.string(), can_send_messages: z.boolean().optional() }),
});

/**
 * The current reactions of one person to a message. Telegram does not report the bot's own
 * reactions.
 */
export const WireReaction = z.object({
  chat: WireChat,
  message_id: z.int(),
  date: z.int().nonnegative().max(LAST_DATE).catch(0),
  user: User.optional(),
  /**
   * The chat as which somebody reacts: an anonymous administrator, or a person writing as their
   * channel.
   */
  actor_chat: WireChat.optional(),
  new_reaction: toLenientList(z.object({ type: z.string(), emoji: Text, custom_emoji_id: Text })),
});
export type WireReaction = z.infer<typeof WireReaction>;

/** A person connected the bot to their business account, changed its rights, or ended the connection. */
export const WireConnection = z.object({
  id: ConnectionId,
  user: User,
  is_enabled: z.boolean(),
  rights: toLenientField(z.object({ can_reply: toLenientField(z.boolean()) })),
});
export type WireConnection = z.infer<typeof WireConnection>;

/** Messages of a business account that were deleted. */
export const WireDeletion = z.object({
  business_connection_id: ConnectionId,
  chat: WireChat,
  message_ids: toLenientList(z.int()),
});

/**
 * An update of any kind. The content of an update is validated later, so that a malformed update
 * cannot block the others.
 */
export const WireUpdate = z.preprocess(withoutNulls, z.looseObject({ update_id: z.int() }));
export type WireUpdate = z.infer<typeof WireUpdate>;

/** The bot's own account, from getMe. */
export const BotIdentity = z.object({ id: z.int(), username: z.string() });
export type BotIdentity = z.infer<typeof BotIdentity>;

/** The kinds of updates that Parley requests; Telegram does not send any others. */
export const UPDATE_KINDS = [
  'message',
  'edited_message',
  'channel_post',
  'edited_channel_post',
  'business_connection',
  'business_message',
  'edited_business_message',
  'deleted_business_messages',
  'guest_message',
  'callback_query',
  'my_chat_member',
  'stopped_message_generation',
  // Telegram sends these updates for groups only where the bot is an administrator.
  'message_reaction',
] as const;
export type UpdateKind = (typeof UPDATE_KINDS)[number];
