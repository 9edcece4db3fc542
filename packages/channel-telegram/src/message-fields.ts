/** How a field of the Bot API is handled (F16). */
type FieldDecision =
  /**
   * Read: the agent reads the field, or the field determines who wrote, where and to whom. `named`
   * is the name of the field's content when the content is invalid.
   */
  | { readonly decision: 'read'; readonly named?: string }
  /** Named: content that a person sent and Parley cannot read; the name includes its article. */
  | { readonly decision: 'named'; readonly named: string }
  /** Ignored: internal data of the platform. */
  | { readonly decision: 'ignored'; readonly why: string }
  /**
   * Event: the platform wrote the whole message. Such a message does not start a turn, and `why`
   * shows the reason.
   */
  | { readonly decision: 'event'; readonly why: string };

const READ: FieldDecision = { decision: 'read' };
const readAs = (named: string): FieldDecision => ({ decision: 'read', named });
const namedOnly = (what: string): FieldDecision => ({ decision: 'named', named: what });
const ignored = (why: string): FieldDecision => ({ decision: 'ignored', why });
const eventField = (why: string): FieldDecision => ({ decision: 'event', why });

const CALL = eventField('it reports a video chat');
const TOPIC = eventField('it reports a change to a topic');
const CREATED = eventField('it reports that the chat was created');
const PAYMENT = eventField('it reports a payment');
const POST = eventField('it reports the state of a suggested post');

/**
 * How every field of `Message` is handled. A test compares the keys with the latest published
 * types.
 */
export const MESSAGE_FIELDS = {
  // Fields for author, chat and time.
  message_id: READ,
  ephemeral_message_id: READ,
  date: READ,
  chat: READ,
  from: READ,
  sender_chat: READ,
  author_signature: READ,
  message_thread_id: READ,
  is_topic_message: READ,
  direct_messages_topic: READ,
  business_connection_id: READ,
  guest_query_id: READ,
  via_bot: READ,
  sender_business_bot: READ,
  is_automatic_forward: READ,
  media_group_id: READ,
  migrate_to_chat_id: eventField('it reports that the group became a supergroup'),
  migrate_from_chat_id: eventField('it reports that the group became a supergroup'),

  // Fields for the message that is replied to or forwarded.
  forward_origin: READ,
  reply_to_message: READ,
  reply_to_checklist_task_id: READ,
  reply_to_poll_option_id: READ,
  reply_to_story: READ,
  external_reply: READ,
  quote: READ,

  // Fields for text, files and cards.
  text: readAs('a text'),
  entities: READ,
  caption: readAs('a text'),
  caption_entities: READ,
  rich_message: readAs('a formatted text'),
  photo: readAs('a picture'),
  live_photo: readAs('a picture'),
  document: readAs('a file'),
  voice: readAs('a voice message'),
  audio: readAs('a recording'),
  video: readAs('a video'),
  video_note: readAs('a video message'),
  animation: readAs('an animation'),
  sticker: readAs('a sticker'),
  poll: readAs('a poll'),
  checklist: readAs('a checklist'),
  location: readAs('a location'),
  venue: readAs('a place'),
  contact: readAs('a contact'),
  dice: readAs('dice'),
  giveaway: readAs('a giveaway'),
  web_app_data: readAs('data of a web app'),
  users_shared: readAs('people'),
  chat_shared: readAs('a chat'),
  suggested_post_info: READ,
  suggested_post_declined: READ,
  link_preview_options: READ,
  reply_markup: READ,
  story: namedOnly('a story'),
  game: namedOnly('a game'),
  invoice: namedOnly('an invoice'),
  paid_media: namedOnly('paid media'),
  gift: namedOnly('a gift'),
  unique_gift: namedOnly('a gift'),
  passport_data: namedOnly('documents of Telegram Passport'),

  // Additional fields that no reader needs.
  sender_tag: ignored('administrators gave it to the sender'),
  sender_boost_count: ignored("it counts the chat's boosts"),
  receiver_user: ignored('only this bot receives such a message'),
  is_paid_post: ignored('it restricts how a post may be deleted'),
  guest_bot_caller_user: ignored('a bot wrote the message'),
  guest_bot_caller_chat: ignored('a bot wrote the message'),
  edit_date: ignored('the kind of update says that it was edited'),
  has_protected_content: ignored('it forbids forwarding, which Parley does not do'),
  has_media_spoiler: ignored('it says how a picture is shown'),
  show_caption_above_media: ignored('it says how a picture is shown'),
  is_from_offline: ignored('an automatic message counts as a message from its account'),
  effect_id: ignored('an animation around the message'),
  paid_star_count: ignored('it says what the message cost'),

  // Fields of messages that the platform writes about a chat.
  new_chat_members: eventField('it reports who joined'),
  left_chat_member: eventField('it reports who left'),
  community_chat_joined: eventField('it reports who joined'),
  community_chat_added: eventField('it reports a change to a community'),
  community_chat_removed: eventField('it reports a change to a community'),
  new_chat_title: eventField('it reports a new title'),
  new_chat_photo: eventField('it reports a new chat picture'),
  delete_chat_photo: eventField('it reports that the chat picture was removed'),
  chat_background_set: eventField('it reports a new background'),
  chat_owner_left: eventField('it reports that the owner of the chat changed'),
  chat_owner_changed: eventField('it reports that the owner of the chat changed'),
  group_chat_created: CREATED,
  supergroup_chat_created: CREATED,
  channel_chat_created: CREATED,
  managed_bot_created: eventField('it reports that a bot was created'),
  message_auto_delete_timer_changed: eventField('it reports a new timer for disappearing messages'),
  pinned_message: eventField('it reports that a message was pinned'),
  poll_option_added: eventField('it reports a change to a poll'),
  poll_option_deleted: eventField('it reports a change to a poll'),
  checklist_tasks_done: eventField('it reports a change to a checklist'),
  checklist_tasks_added: eventField('it reports a change to a checklist'),
  successful_payment: PAYMENT,
  refunded_payment: PAYMENT,
  paid_message_price_changed: eventField('it reports the price of messages'),
  direct_message_price_changed: eventField('it reports the price of messages'),
  connected_website: eventField('it reports that a person signed in to a website'),
  write_access_allowed: eventField('it reports that the bot may write'),
  proximity_alert_triggered: eventField('it reports that two people are near each other'),
  boost_added: eventField('it reports a boost'),
  forum_topic_created: TOPIC,
  forum_topic_edited: TOPIC,
  forum_topic_closed: TOPIC,
  forum_topic_reopened: TOPIC,
  general_forum_topic_hidden: TOPIC,
  general_forum_topic_unhidden: TOPIC,
  giveaway_created: eventField('it reports that a giveaway was planned'),
  giveaway_winners: eventField('it reports who won a giveaway'),
  giveaway_completed: eventField('it reports that a giveaway is over'),
  gift_upgrade_sent: eventField('it reports that a gift was upgraded'),
  suggested_post_approved: POST,
  suggested_post_approval_failed: POST,
  suggested_post_paid: POST,
  suggested_post_refunded: POST,
  video_chat_scheduled: CALL,
  video_chat_started: CALL,
  video_chat_ended: CALL,
  video_chat_participants_invited: CALL,

  // Fields of servers from before 2023.
  forward_date: READ,
  forward_from: READ,
  forward_from_chat: READ,
  forward_from_message_id: ignored('the number of a message in another chat'),
  forward_sender_name: READ,
  forward_signature: READ,
  user_shared: readAs('people'),
} satisfies Readonly<Record<string, FieldDecision>>;

function findFieldDecision(field: string): FieldDecision | undefined {
  const all: Readonly<Record<string, FieldDecision>> = MESSAGE_FIELDS;
  return all[field];
}

/**
 * A name for content that could not be parsed: the name of its kind, or `something` for a new kind.
 */
export function nameUnknownContent(message: object): string {
  const names = Object.keys(message).flatMap((field) => {
    const decision = findFieldDecision(field);
    return decision !== undefined && 'named' in decision ? (decision.named ?? []) : [];
  });
  return names[0] ?? 'something';
}

/** Whether a message has a field that carries content, or an unknown field. */
export function hasContent(message: object): boolean {
  return Object.keys(message).some((field) => {
    const decision = findFieldDecision(field);
    return decision === undefined || 'named' in decision;
  });
}

/** Why the platform itself wrote a message; undefined if a person wrote it. */
export function findEventReason(message: object): string | undefined {
  // A message about giveaway winners can be forwarded, and then a person is the sender.
  if ('forward_origin' in message || 'forward_date' in message) return undefined;
  for (const field of Object.keys(message)) {
    const decision = findFieldDecision(field);
    if (decision?.decision === 'event') return decision.why;
  }
  return undefined;
}

const NOT_OFFERED = ignored('Parley offers nothing of that kind');
const OF_MEMBERS = ignored('Parley does not need to know the other members of a chat');

/**
 * How every kind of update is handled. A test compares the keys with the latest published types.
 */
export const UPDATE_DECISIONS = {
  message: READ,
  edited_message: READ,
  channel_post: READ,
  edited_channel_post: READ,
  business_connection: READ,
  business_message: READ,
  edited_business_message: READ,
  deleted_business_messages: READ,
  guest_message: READ,
  callback_query: READ,
  my_chat_member: READ,
  // Telegram sends these for groups only where the bot is an administrator.
  message_reaction: READ,
  stopped_message_generation: READ,
  message_reaction_count: ignored('it counts anonymous reactions'),
  inline_query: NOT_OFFERED,
  chosen_inline_result: NOT_OFFERED,
  shipping_query: NOT_OFFERED,
  pre_checkout_query: NOT_OFFERED,
  purchased_paid_media: NOT_OFFERED,
  subscription: NOT_OFFERED,
  managed_bot: NOT_OFFERED,
  poll: ignored('it counts votes in a poll by the bot, but Parley sends no polls'),
  poll_answer: ignored('it is a vote in a poll by the bot, but Parley sends no polls'),
  chat_member: OF_MEMBERS,
  chat_join_request: OF_MEMBERS,
  chat_boost: OF_MEMBERS,
  removed_chat_boost: OF_MEMBERS,
} satisfies Readonly<Record<string, FieldDecision>>;

/** Why an update that has no handler is not passed to the agent. */
export function getUnreadUpdateReason(kind: string): string {
  const all: Readonly<Record<string, FieldDecision>> = UPDATE_DECISIONS;
  const decision = all[kind];
  return decision?.decision === 'ignored'
    ? decision.why
    : `Parley does not read what Telegram calls "${kind}"`;
}
