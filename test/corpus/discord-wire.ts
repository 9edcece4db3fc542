import type {
  APIAttachment,
  APIEmbed,
  APIEmbedAuthor,
  APIEmbedField,
  APIEmbedFooter,
  APIEmbedImage,
  APIEmbedProvider,
  APIEmbedVideo,
  APIInteractionDataResolved,
  APIMediaGalleryItem,
  APIMessage,
  APIMessageActivity,
  APIMessageCall,
  APIMessageComponent,
  APIMessageComponentEmoji,
  APIMessageReference,
  APIMessageRoleSubscriptionData,
  APIMessageSharedClientTheme,
  APIMessageSnapshot,
  APIModalComponent,
  APIPoll,
  APIPollAnswer,
  APIPollAnswerCount,
  APIPollMedia,
  APIPollResults,
  APISelectMenuDefaultValue,
  APISelectMenuOption,
  APISticker,
  APIUnfurledMediaItem,
  ComponentType,
  EmbedType,
  GatewayMessageCreateDispatchData,
  MessageActivityType,
  SelectMenuDefaultValueType,
  StickerFormatType,
} from 'discord-api-types/v10';

/**
 * What Parley does with a field or kind of the wire. `read`: its words or its meaning reach the model. `named`: the model reads that it
 * is there. Else the reason why it says nothing: bookkeeping of the platform alone, never what a person writes.
 */
export type FieldDecision = 'read' | 'named' | { readonly ignored: string };

/** The names of all fields, of every member of a union. */
type FieldName<T> = T extends unknown ? keyof T : never;

/** Complete by its type: a field that a new version of Discord's types has does not compile until it is here. */
type FieldDecisions<T> = Readonly<Record<FieldName<T>, FieldDecision>>;

const SIZE = { ignored: 'the size of a picture' };
const PLACEHOLDER = { ignored: 'a blurred picture until the real one is there' };
const ICON = { ignored: 'a small picture beside a name' };
const LOOKS = { ignored: 'how it is drawn' };
const IDENTITY = { ignored: 'an id for programs' };
const LIMITS = { ignored: 'what may be chosen in a form' };
const ANIMATION = { ignored: 'whether a picture moves' };

const MESSAGE: FieldDecisions<APIMessage & GatewayMessageCreateDispatchData> = {
  id: 'read',
  channel_id: 'read',
  guild_id: 'read',
  author: 'read',
  member: 'read',
  content: 'read',
  timestamp: 'read',
  edited_timestamp: 'read',
  mentions: 'read',
  mention_roles: 'read',
  mention_channels: 'read',
  attachments: 'read',
  embeds: 'read',
  components: 'read',
  sticker_items: 'read',
  stickers: 'read',
  poll: 'read',
  message_reference: 'read',
  referenced_message: 'read',
  message_snapshots: 'read',
  resolved: 'read',
  webhook_id: 'read',
  type: 'read',
  flags: 'read',
  activity: 'named',
  application: 'named',
  shared_client_theme: 'named',
  call: { ignored: 'comes with a call alone, which is a notice of Discord' },
  role_subscription_data: { ignored: 'comes with a notice of Discord alone' },
  channel_type: { ignored: 'the place is known by its channel' },
  mention_everyone: { ignored: 'the words say it, and it means no one in particular' },
  tts: { ignored: 'whether it is read aloud' },
  reactions: { ignored: 'reactions have events of their own' },
  pinned: { ignored: 'whether it is pinned' },
  nonce: IDENTITY,
  application_id: IDENTITY,
  position: { ignored: 'its place in a thread' },
  thread: { ignored: 'the thread that was started from it has events of its own' },
  interaction: { ignored: "which command another bot's message answers" },
  interaction_metadata: { ignored: "which command another bot's message answers" },
};

const SNAPSHOT: FieldDecisions<APIMessageSnapshot> = {
  message: 'read',
  guild_id: { ignored: 'the reference says it' },
};
const REFERENCE: FieldDecisions<APIMessageReference> = {
  type: 'read',
  message_id: 'read',
  channel_id: 'read',
  guild_id: 'read',
};
const ATTACHMENT: FieldDecisions<APIAttachment> = {
  id: 'read',
  filename: 'read',
  title: 'read',
  description: 'read',
  content_type: 'read',
  size: 'read',
  url: 'read',
  duration_secs: 'read',
  waveform: 'read',
  flags: 'read',
  proxy_url: { ignored: 'the address of a copy' },
  height: SIZE,
  width: SIZE,
  placeholder: PLACEHOLDER,
  placeholder_version: PLACEHOLDER,
  ephemeral: { ignored: 'what only one person sees never reaches a bot' },
  clip_participants: { ignored: 'Discord notes who was in a call' },
  clip_created_at: { ignored: 'Discord notes when it was recorded' },
  application: { ignored: 'Discord notes in which game it was recorded' },
};
const EMBED: FieldDecisions<APIEmbed> = {
  title: 'read',
  type: 'read',
  description: 'read',
  url: 'read',
  timestamp: 'read',
  footer: 'read',
  image: 'read',
  thumbnail: 'read',
  video: 'read',
  provider: 'read',
  author: 'read',
  fields: 'read',
  color: LOOKS,
  flags: LOOKS,
};
const PICTURE: FieldDecisions<APIEmbedImage & APIEmbedVideo> = {
  url: 'read',
  proxy_url: 'read',
  content_type: 'read',
  description: 'read',
  height: SIZE,
  width: SIZE,
  placeholder: PLACEHOLDER,
  placeholder_version: PLACEHOLDER,
  flags: ANIMATION,
};
const EMBED_NAME: FieldDecisions<APIEmbedAuthor & APIEmbedProvider> = {
  name: 'read',
  url: 'read',
  icon_url: ICON,
  proxy_icon_url: ICON,
};
const FOOTER: FieldDecisions<APIEmbedFooter> = {
  text: 'read',
  icon_url: ICON,
  proxy_icon_url: ICON,
};
const EMBED_FIELD: FieldDecisions<APIEmbedField> = { name: 'read', value: 'read', inline: LOOKS };

const COMPONENT: FieldDecisions<APIMessageComponent | APIModalComponent> = {
  type: 'read',
  components: 'read',
  component: 'read',
  accessory: 'read',
  content: 'read',
  label: 'read',
  description: 'read',
  placeholder: 'read',
  value: 'read',
  url: 'read',
  emoji: 'read',
  options: 'read',
  default_values: 'read',
  items: 'read',
  media: 'read',
  file: 'read',
  name: 'read',
  spoiler: 'read',
  divider: 'read',
  id: IDENTITY,
  custom_id: IDENTITY,
  sku_id: IDENTITY,
  style: LOOKS,
  spacing: LOOKS,
  accent_color: LOOKS,
  disabled: LOOKS,
  size: { ignored: 'the size of a file, which is fetched' },
  min_values: LIMITS,
  max_values: LIMITS,
  min_length: LIMITS,
  max_length: LIMITS,
  required: LIMITS,
  channel_types: LIMITS,
  file_types: LIMITS,
  default: { ignored: 'what is chosen before a person chooses' },
};
const OPTION: FieldDecisions<APISelectMenuOption> = {
  label: 'read',
  description: 'read',
  value: { ignored: 'what a program gets; it is read where there is no label' },
  emoji: ICON,
  default: { ignored: 'what is chosen before a person chooses' },
};
const COMPONENT_EMOJI: FieldDecisions<APIMessageComponentEmoji> = {
  id: 'read',
  name: 'read',
  animated: ANIMATION,
};
const DEFAULT_VALUE: FieldDecisions<APISelectMenuDefaultValue<SelectMenuDefaultValueType>> = {
  type: 'read',
  id: 'read',
};
const GALLERY_ITEM: FieldDecisions<APIMediaGalleryItem> = {
  media: 'read',
  description: 'read',
  spoiler: 'read',
};
const MEDIA: FieldDecisions<APIUnfurledMediaItem> = {
  url: 'read',
  proxy_url: 'read',
  content_type: 'read',
  attachment_id: 'read',
  height: SIZE,
  width: SIZE,
  placeholder: PLACEHOLDER,
  placeholder_version: PLACEHOLDER,
  loading_state: { ignored: 'whether Discord has fetched it yet' },
  flags: ANIMATION,
};

const POLL: FieldDecisions<APIPoll> = {
  question: 'read',
  answers: 'read',
  expiry: 'read',
  allow_multiselect: 'read',
  results: 'read',
  layout_type: LOOKS,
};
const POLL_MEDIA: FieldDecisions<APIPollMedia> = { text: 'read', emoji: 'read' };
const POLL_ANSWER: FieldDecisions<APIPollAnswer> = { answer_id: 'read', poll_media: 'read' };
const POLL_RESULTS: FieldDecisions<APIPollResults> = {
  is_finalized: 'read',
  answer_counts: 'read',
};
const POLL_COUNT: FieldDecisions<APIPollAnswerCount> = {
  id: 'read',
  count: 'read',
  me_voted: { ignored: 'the bot does not vote' },
};
const STICKER: FieldDecisions<APISticker> = {
  id: 'read',
  name: 'read',
  format_type: 'read',
  description: { ignored: 'comes with stickers of before 2021 alone, whose picture is shown' },
  tags: { ignored: 'words that find it' },
  asset: IDENTITY,
  pack_id: IDENTITY,
  guild_id: IDENTITY,
  type: { ignored: 'whether it is one of the server' },
  available: { ignored: 'whether it may be used again' },
  user: { ignored: 'who made it' },
  sort_value: LOOKS,
};
const ACTIVITY: FieldDecisions<APIMessageActivity> = { type: 'named', party_id: IDENTITY };
const NOTICE = { ignored: 'comes with a notice of Discord alone' };
const CALL: FieldDecisions<APIMessageCall> = { participants: NOTICE, ended_timestamp: NOTICE };
const SUBSCRIPTION: FieldDecisions<APIMessageRoleSubscriptionData> = {
  role_subscription_listing_id: NOTICE,
  tier_name: NOTICE,
  total_months_subscribed: NOTICE,
  is_renewal: NOTICE,
};
const THEME: FieldDecisions<APIMessageSharedClientTheme> = {
  colors: LOOKS,
  gradient_angle: LOOKS,
  base_mix: LOOKS,
  base_theme: LOOKS,
};
const RESOLVED: FieldDecisions<APIInteractionDataResolved> = {
  users: 'read',
  roles: 'read',
  channels: 'read',
  members: { ignored: 'names in the server of those in `users`' },
  attachments: { ignored: 'files of a command, which no message has' },
};

/** An object of the wire, the fields that contain one, and what is decided about its own. */
export interface WireObject {
  readonly in: readonly string[];
  readonly fields: Readonly<Record<string, FieldDecision>>;
}

export const OBJECTS: Readonly<Record<string, WireObject>> = {
  message: { in: ['', 'd', 'message', 'referenced_message'], fields: MESSAGE },
  snapshot: { in: ['message_snapshots'], fields: SNAPSHOT },
  reference: { in: ['message_reference'], fields: REFERENCE },
  attachment: { in: ['attachments'], fields: ATTACHMENT },
  embed: { in: ['embeds'], fields: EMBED },
  'picture of an embed': { in: ['image', 'thumbnail', 'video'], fields: PICTURE },
  'name in an embed': { in: ['author', 'provider'], fields: EMBED_NAME },
  footer: { in: ['footer'], fields: FOOTER },
  'field of an embed': { in: ['fields'], fields: EMBED_FIELD },
  component: { in: ['components', 'component', 'accessory'], fields: COMPONENT },
  option: { in: ['options'], fields: OPTION },
  'emoji of a button': { in: ['emoji'], fields: COMPONENT_EMOJI },
  'default value': { in: ['default_values'], fields: DEFAULT_VALUE },
  'item of a gallery': { in: ['items'], fields: GALLERY_ITEM },
  media: { in: ['media', 'file'], fields: MEDIA },
  poll: { in: ['poll'], fields: POLL },
  'words of a poll': { in: ['question', 'poll_media'], fields: POLL_MEDIA },
  'answer of a poll': { in: ['answers'], fields: POLL_ANSWER },
  'results of a poll': { in: ['results'], fields: POLL_RESULTS },
  'count of a poll': { in: ['answer_counts'], fields: POLL_COUNT },
  sticker: { in: ['sticker_items', 'stickers'], fields: STICKER },
  activity: { in: ['activity'], fields: ACTIVITY },
  call: { in: ['call'], fields: CALL },
  'subscription to a role': { in: ['role_subscription_data'], fields: SUBSCRIPTION },
  theme: { in: ['shared_client_theme'], fields: THEME },
  'resolved ids': { in: ['resolved'], fields: RESOLVED },
};

/** Kinds of the same thing, by the number or word of the wire. */
export const COMPONENTS: Readonly<Record<ComponentType, FieldDecision>> = {
  1: 'read',
  2: 'read',
  3: 'read',
  4: 'read',
  5: 'read',
  6: 'read',
  7: 'read',
  8: 'read',
  9: 'read',
  10: 'read',
  11: 'read',
  12: 'read',
  13: 'read',
  14: 'read',
  16: 'named',
  17: 'read',
  18: 'read',
  19: 'named',
  21: 'read',
  22: 'read',
  23: 'named',
};
export const EMBEDS: Readonly<Record<`${EmbedType}`, FieldDecision>> = {
  rich: 'read',
  image: 'read',
  video: 'read',
  gifv: 'read',
  article: 'read',
  link: 'read',
  poll_result: 'read',
  auto_moderation_message: { ignored: 'comes with a notice of Discord alone' },
};
export const STICKERS: Readonly<Record<StickerFormatType, FieldDecision>> = {
  1: 'read',
  2: 'read',
  3: 'named',
  4: 'read',
};
export const ACTIVITIES: Readonly<Record<MessageActivityType, FieldDecision>> = {
  1: 'named',
  2: 'named',
  3: 'named',
  5: 'named',
  6: 'named',
};
