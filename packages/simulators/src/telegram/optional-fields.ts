import type {
  Animation,
  Audio,
  CallbackQuery,
  Chat,
  ChatMember,
  ChatMemberUpdated,
  Document,
  ForumTopicCreated,
  ForumTopicEdited,
  Message,
  MessageEntity,
  MessageOriginChannel,
  MessageOriginChat,
  MessageOriginHiddenUser,
  MessageOriginUser,
  MessageReactionUpdated,
  PhotoSize,
  ReactionType,
  Sticker,
  TextQuote,
  Update,
  User,
  Video,
  VideoNote,
  Voice,
} from '@grammyjs/types';
import type { OptionalFieldMode } from '../optional-fields.ts';

type KeyOfUnion<T> = T extends unknown ? keyof T : never;
type OptionalKey<T> = T extends unknown
  ? { [K in keyof T]-?: object extends Pick<T, K> ? K : never }[keyof T]
  : never;
/** Sample values for the fields that are optional, or that some variants of the object lack. */
type FieldSamples<T> = Readonly<Record<OptionalKey<T> | Exclude<KeyOfUnion<T>, keyof T>, unknown>>;

const ANN = { id: 501, is_bot: false, first_name: 'Ann' };
const NEWS = { id: -1_000_000_000_009, type: 'channel', title: 'News' };
const SIZE = { file_id: 'f', file_unique_id: 'u', width: 1, height: 1 };
const CLIP = { ...SIZE, duration: 1 };
const POINT = { latitude: 1, longitude: 2 };
const NUMBERS = { additional_chat_count: 1, unclaimed_prize_count: 1 };

/**
 * The optional fields of all objects sent to a bot, according to the newest published types. A new
 * field does not compile until it has a sample here; tests send the field with that value, as null,
 * and not at all.
 */
export const OPTIONAL_FIELDS = {
  User: {
    last_name: 'Archer',
    username: 'ann_archer',
    language_code: 'en',
    is_premium: true,
    added_to_attachment_menu: true,
  } satisfies FieldSamples<User>,
  Chat: {
    title: 'Family',
    username: 'family',
    first_name: 'Ann',
    last_name: 'Archer',
    is_forum: true,
    is_direct_messages: true,
  } satisfies FieldSamples<Chat>,
  Message: {
    message_thread_id: 7,
    from: ANN,
    sender_chat: NEWS,
    is_topic_message: true,
    sender_boost_count: 1,
    forward_origin: { type: 'user', date: 1, sender_user: ANN },
    is_automatic_forward: true,
    reply_to_message: { message_id: 1, date: 1, chat: NEWS, text: 'before' },
    external_reply: { origin: { type: 'hidden_user', date: 1, sender_user_name: 'Bo' } },
    quote: { text: 'be', position: 0, is_manual: true },
    reply_to_story: { chat: NEWS, id: 1 },
    via_bot: { ...ANN, is_bot: true },
    edit_date: 1,
    has_protected_content: true,
    author_signature: 'Ann',
    link_preview_options: { is_disabled: true },
    reply_markup: { inline_keyboard: [] },
    text: 'words',
    entities: [{ type: 'bold', offset: 0, length: 1 }],
    caption: 'below',
    caption_entities: [{ type: 'bold', offset: 0, length: 1 }],
    media_group_id: 'album',
    has_media_spoiler: true,

    audio: CLIP,
    document: SIZE,
    animation: CLIP,
    photo: [SIZE],
    sticker: { ...SIZE, type: 'regular', is_animated: false, is_video: false },
    story: { chat: NEWS, id: 1 },
    video: CLIP,
    video_note: { ...CLIP, length: 1 },
    voice: CLIP,
    contact: { phone_number: '+1', first_name: 'Bo', last_name: 'Baker', user_id: 502, vcard: '' },
    dice: { emoji: '🎲', value: 1 },
    game: { title: 'g', description: 'd', photo: [SIZE] },
    poll: { id: 'p', question: 'Who?', options: [{ text: 'I', voter_count: 0 }], type: 'regular' },
    location: { ...POINT, horizontal_accuracy: 1, live_period: 60 },
    venue: { location: POINT, title: 'Home', address: 'Here', foursquare_id: 'x' },
    new_chat_members: [ANN],
    left_chat_member: ANN,
    new_chat_title: 'Friends',
    new_chat_photo: [SIZE],
    delete_chat_photo: true,
    group_chat_created: true,
    supergroup_chat_created: true,
    channel_chat_created: true,
    message_auto_delete_timer_changed: { message_auto_delete_time: 60 },
    migrate_to_chat_id: -1_000_000_000_077,
    migrate_from_chat_id: -78,
    pinned_message: { message_id: 1, date: 0, chat: NEWS },
    invoice: { title: 'i', description: 'd', start_parameter: '', currency: 'EUR' },
    successful_payment: { currency: 'EUR', total_amount: 1, invoice_payload: '' },
    users_shared: { request_id: 1, user_ids: [501] },
    chat_shared: { request_id: 1, chat_id: -5 },
    connected_website: 'example.org',
    write_access_allowed: { from_request: true },
    passport_data: { data: [], credentials: {} },
    proximity_alert_triggered: { traveler: ANN, watcher: ANN, distance: 1 },
    boost_added: { boost_count: 1 },
    forum_topic_created: { name: 'Trips', icon_color: 1, icon_custom_emoji_id: 'e' },
    forum_topic_edited: { icon_custom_emoji_id: 'e' },
    forum_topic_closed: {},
    forum_topic_reopened: {},
    general_forum_topic_hidden: {},
    general_forum_topic_unhidden: {},
    giveaway_created: {},
    giveaway: { chats: [NEWS], winners_selection_date: 1, winner_count: 1 },
    giveaway_winners: { chat: NEWS, giveaway_message_id: 1, winners: [ANN], ...NUMBERS },
    giveaway_completed: { winner_count: 1, ...NUMBERS },
    video_chat_scheduled: { start_date: 1 },
    video_chat_started: {},
    video_chat_ended: { duration: 1 },
    video_chat_participants_invited: { users: [ANN] },
    web_app_data: { data: 'd', button_text: 'b' },
    guest_query_id: 'query',
    business_connection_id: 'connection',
    direct_messages_topic: { topic_id: 7, user: ANN },
    sender_tag: 'Treasurer',
    receiver_user: ANN,
    ephemeral_message_id: 5,
    sender_business_bot: { ...ANN, is_bot: true },
    reply_to_checklist_task_id: 1,
    reply_to_poll_option_id: '1',
    is_paid_post: true,
    guest_bot_caller_user: ANN,
    guest_bot_caller_chat: NEWS,
    show_caption_above_media: true,
    is_from_offline: true,
    effect_id: 'e',
    paid_star_count: 1,
    rich_message: { blocks: [{ type: 'paragraph', text: 'rich' }] },
    live_photo: { ...CLIP, photo: [SIZE] },
    paid_media: { star_count: 1, paid_media: [{ type: 'preview' }] },
    checklist: { title: 'c', tasks: [{ id: 1, text: 't' }] },
    checklist_tasks_done: { marked_as_done_task_ids: [1] },
    checklist_tasks_added: { tasks: [{ id: 1, text: 't' }] },
    community_chat_added: { community: { id: 1, name: 'c' } },
    community_chat_removed: {},
    community_chat_joined: { community: { id: 1, name: 'c' } },
    suggested_post_info: { state: 'pending' },
    suggested_post_approved: { send_date: 1 },
    suggested_post_approval_failed: { price: { currency: 'XTR', amount: 5 } },
    suggested_post_declined: { comment: 'no' },
    suggested_post_paid: { currency: 'XTR', amount: 5 },
    suggested_post_refunded: { reason: 'post_deleted' },
    chat_owner_left: {},
    chat_owner_changed: { new_owner: ANN },
    managed_bot_created: { bot: { ...ANN, is_bot: true } },
    poll_option_added: { option_persistent_id: '1', option_text: 'o' },
    poll_option_deleted: { option_persistent_id: '1', option_text: 'o' },
    refunded_payment: { currency: 'XTR', total_amount: 1, invoice_payload: '' },
    chat_background_set: { type: { type: 'chat_theme', theme_name: '🐈' } },
    gift: { gift: {} },
    gift_upgrade_sent: { gift: {} },
    unique_gift: { gift: {}, origin: 'transfer' },
    paid_message_price_changed: { paid_message_star_count: 1 },
    direct_message_price_changed: { are_direct_messages_enabled: true },
  } satisfies FieldSamples<Message>,
  PhotoSize: { file_size: 1 } satisfies FieldSamples<PhotoSize>,
  File: {
    thumbnail: SIZE,
    file_name: 'a.bin',
    mime_type: 'video/mp4',
    file_size: 1,
    performer: 'Ann',
    title: 'Song',
    width: 1,
    height: 1,
    duration: 1,
    length: 1,
    cover: [SIZE],
    qualities: [],
    start_timestamp: 1,
  } satisfies FieldSamples<Document | Audio | Voice | Video | VideoNote | Animation>,
  Sticker: {
    thumbnail: SIZE,
    emoji: '🦜',
    set_name: 'birds',
    premium_animation: SIZE,
    mask_position: { point: 'eyes', x_shift: 0, y_shift: 0, scale: 1 },
    custom_emoji_id: '5',
    file_size: 1,
  } satisfies FieldSamples<Sticker>,
  MessageEntity: {
    url: 'https://example.org/',
    user: ANN,
    custom_emoji_id: '5',
    language: 'js',
    unix_time: 1,
    date_time_format: 'r',
  } satisfies FieldSamples<MessageEntity>,
  MessageOrigin: {
    sender_user: ANN,
    sender_user_name: 'Bo',
    sender_chat: NEWS,
    chat: NEWS,
    message_id: 1,
    author_signature: 'Ann',
  } satisfies FieldSamples<
    MessageOriginUser | MessageOriginHiddenUser | MessageOriginChat | MessageOriginChannel
  >,
  TextQuote: { entities: [], is_manual: true } satisfies FieldSamples<TextQuote>,
  Topic: {
    name: 'Trips',
    icon_color: 1,
    icon_custom_emoji_id: 'e',
    is_name_implicit: true,
  } satisfies FieldSamples<ForumTopicCreated | ForumTopicEdited>,
  CallbackQuery: {
    message: { message_id: 1, date: 0, chat: NEWS },
    inline_message_id: 'i',
    data: 'd',
    game_short_name: 'g',
  } satisfies FieldSamples<CallbackQuery>,
  ChatMemberUpdated: {
    invite_link: { invite_link: 'https://t.me/+x', creator: ANN },
    via_chat_folder_invite_link: true,
    via_join_request: true,
  } satisfies FieldSamples<ChatMemberUpdated>,
  ChatMember: {
    is_anonymous: false,
    custom_title: 'Boss',
    can_be_edited: true,
    can_manage_chat: true,
    can_delete_messages: true,
    can_manage_video_chats: true,
    can_restrict_members: true,
    can_promote_members: true,
    can_change_info: true,
    can_invite_users: true,
    can_post_messages: true,
    can_edit_messages: true,
    can_pin_messages: true,
    can_post_stories: true,
    can_edit_stories: true,
    can_delete_stories: true,
    can_manage_topics: true,
    is_member: true,
    can_send_messages: false,
    can_send_audios: true,
    can_send_documents: true,
    can_send_photos: true,
    can_send_videos: true,
    can_send_video_notes: true,
    can_send_voice_notes: true,
    can_send_polls: true,
    can_send_other_messages: true,
    can_add_web_page_previews: true,
    until_date: 0,
    can_edit_tag: true,
    can_manage_direct_messages: true,
    can_manage_tags: true,
    can_react_to_messages: true,
    can_send_welcome_messages: true,
    tag: 'Treasurer',
  } satisfies FieldSamples<ChatMember>,
  MessageReactionUpdated: {
    user: ANN,
    actor_chat: NEWS,
  } satisfies FieldSamples<MessageReactionUpdated>,
  ReactionType: { emoji: '👍', custom_emoji_id: '5' } satisfies FieldSamples<ReactionType>,
};

type OptionalFieldKind = keyof typeof OPTIONAL_FIELDS;

/** The type of object that each field contains, wherever the field occurs. */
const KINDS: Readonly<Record<string, OptionalFieldKind>> = {
  ...{ from: 'User', user: 'User', via_bot: 'User', sender_user: 'User' },
  ...{ new_chat_members: 'User', left_chat_member: 'User' },
  ...{ chat: 'Chat', sender_chat: 'Chat', actor_chat: 'Chat' },
  ...{ message: 'Message', edited_message: 'Message', channel_post: 'Message' },
  ...{ business_message: 'Message', edited_business_message: 'Message', guest_message: 'Message' },
  ...{ edited_channel_post: 'Message', reply_to_message: 'Message', pinned_message: 'Message' },
  ...{ photo: 'PhotoSize', thumbnail: 'PhotoSize', sticker: 'Sticker' },
  ...{ document: 'File', audio: 'File', voice: 'File', video: 'File', video_note: 'File' },
  ...{ animation: 'File', entities: 'MessageEntity', caption_entities: 'MessageEntity' },
  ...{ forward_origin: 'MessageOrigin', quote: 'TextQuote' },
  ...{ forum_topic_created: 'Topic', forum_topic_edited: 'Topic' },
  ...{ callback_query: 'CallbackQuery', my_chat_member: 'ChatMemberUpdated' },
  ...{ old_chat_member: 'ChatMember', new_chat_member: 'ChatMember' },
  ...{ message_reaction: 'MessageReactionUpdated' },
  ...{ old_reaction: 'ReactionType', new_reaction: 'ReactionType' },
};

/** The kinds of updates; each update has exactly one. */
const UPDATES: Readonly<Record<Exclude<KeyOfUnion<Update>, 'update_id'>, null>> = {
  ...{ message: null, edited_message: null, channel_post: null, edited_channel_post: null },
  ...{ message_reaction: null, message_reaction_count: null, inline_query: null },
  ...{ chosen_inline_result: null, callback_query: null, shipping_query: null },
  ...{ pre_checkout_query: null, poll: null, poll_answer: null, my_chat_member: null },
  ...{ business_connection: null, business_message: null, edited_business_message: null },
  ...{ deleted_business_messages: null, guest_message: null, subscription: null },
  ...{ stopped_message_generation: null, purchased_paid_media: null, managed_bot: null },
  ...{ chat_member: null, chat_join_request: null, chat_boost: null, removed_chat_boost: null },
};

/**
 * The optional fields that may be null or omitted; all other fields carry an object's content and
 * are always sent.
 */
const BESIDE: ReadonlySet<string> = new Set([
  ...Object.keys(OPTIONAL_FIELDS.User),
  ...['title', 'is_forum', 'entities', 'caption', 'caption_entities', 'via_bot', 'quote'],
  ...['forward_origin', 'media_group_id', 'pinned_message', 'migrate_to_chat_id'],
  ...['file_size', 'mime_type', 'file_name', 'thumbnail', 'is_manual', 'language'],
  ...['author_signature', 'edit_date', 'set_name', 'emoji', 'icon_custom_emoji_id'],
]);

type FieldRecord = Record<string, unknown>;

/** Converts the content of an update, with its optional fields in the given form. */
export function applyOptionalFields(
  how: OptionalFieldMode,
  kind: string,
  content: unknown,
): FieldRecord {
  const event = { [kind]: toSentForm(how, kind, content) };
  return how === 'null' ? { ...UPDATES, ...event } : event;
}

function toSentForm(how: OptionalFieldMode, field: string, value: unknown): unknown {
  if (how === 'present' || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => toSentForm(how, field, item));
  const kind = KINDS[field];
  const optional = kind === undefined ? [] : Object.keys(OPTIONAL_FIELDS[kind]);
  const kept = Object.entries(value).filter(
    ([name]) => !optional.includes(name) || !BESIDE.has(name) || kind === 'ReactionType',
  );
  const nulls = how === 'null' ? optional.map((name) => [name, null]) : [];
  const sent = kept.map(([name, inner]) => [name, toSentForm(how, name, inner)]);
  return Object.fromEntries([...nulls, ...sent]);
}

/**
 * Returns the same content, with the sample value added to each object of that type that does not
 * have the optional field.
 */
export function addSample(
  of: OptionalFieldKind,
  name: string,
  field: string,
  value: unknown,
): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => addSample(of, name, field, item));
  const samples: FieldRecord = KINDS[field] === of ? OPTIONAL_FIELDS[of] : {};
  const added = name in samples && !(name in value) ? { [name]: samples[name] } : {};
  const all = Object.entries(value).map(([key, inner]) => [key, addSample(of, name, key, inner)]);
  return { ...Object.fromEntries(all), ...added };
}
