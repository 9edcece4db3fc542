import type {
  APIAttachment,
  APIChatInputApplicationCommandInteraction,
  APIDMChannel,
  APIGuildMember,
  APIMessageComponentButtonInteraction,
  APIPartialEmoji,
  APITextChannel,
  APIThreadChannel,
  APIUser,
  GatewayMessageCreateDispatchData,
  GatewayMessageReactionAddDispatchData,
  GatewayMessageReactionRemoveDispatchData,
} from 'discord-api-types/v10';

/** The names of the fields that Discord may omit or send as null. */
type LooseFieldName<T> = {
  [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? K : null extends T[K] ? K : never;
}[keyof T];

/**
 * `varies`: the field is sent with its value, as null, or omitted, depending on the double's
 * option. `leaves`: like `varies`, but the field is omitted instead of null, because discord.js
 * throws on null. `kept`: the field is always sent, because its absence would mean something else,
 * or because a field of the same name is required elsewhere. `unsent`: the double never sends the
 * field.
 */
type FieldHandling = 'varies' | 'leaves' | 'kept' | 'unsent';

/**
 * The type makes the list exhaustive: a field that becomes optional in a new version of Discord's
 * types does not compile until it is listed.
 */
type FieldHandlings<T> = Readonly<Record<LooseFieldName<T>, FieldHandling>>;

const PERSON = {
  avatar_decoration_data: 'unsent',
  banner: 'unsent',
  collectibles: 'unsent',
} as const;

const USER: FieldHandlings<APIUser> = {
  ...PERSON,
  global_name: 'varies',
  avatar: 'varies',
  bot: 'kept',
  system: 'unsent',
  accent_color: 'unsent',
  avatar_decoration: 'unsent',
  email: 'unsent',
  flags: 'kept',
  locale: 'kept',
  mfa_enabled: 'unsent',
  premium_type: 'unsent',
  primary_guild: 'unsent',
  public_flags: 'unsent',
  verified: 'unsent',
};

const MEMBER: FieldHandlings<APIGuildMember> = {
  ...PERSON,
  nick: 'varies',
  avatar: 'varies',
  joined_at: 'varies',
  communication_disabled_until: 'unsent',
  pending: 'unsent',
  premium_since: 'unsent',
};

const ATTACHMENT: FieldHandlings<APIAttachment> = {
  content_type: 'varies',
  description: 'varies',
  application: 'kept',
  clip_created_at: 'unsent',
  clip_participants: 'unsent',
  duration_secs: 'kept',
  ephemeral: 'unsent',
  flags: 'kept',
  height: 'unsent',
  width: 'unsent',
  placeholder: 'unsent',
  placeholder_version: 'unsent',
  title: 'unsent',
  waveform: 'kept',
};

const MESSAGE: FieldHandlings<GatewayMessageCreateDispatchData> = {
  member: 'varies',
  edited_timestamp: 'varies',
  webhook_id: 'varies',
  nonce: 'varies',
  channel_type: 'varies',
  interaction_metadata: 'varies',
  thread: 'varies',
  position: 'varies',
  components: 'leaves',
  reactions: 'leaves',
  application_id: 'kept',
  flags: 'kept',
  guild_id: 'kept',
  message_reference: 'kept',
  referenced_message: 'kept',
  activity: 'kept',
  application: 'kept',
  call: 'unsent',
  interaction: 'unsent',
  mention_channels: 'unsent',
  message_snapshots: 'kept',
  poll: 'kept',
  resolved: 'unsent',
  role_subscription_data: 'unsent',
  shared_client_theme: 'kept',
  sticker_items: 'kept',
  stickers: 'unsent',
};

const CHANNEL: FieldHandlings<APITextChannel> &
  FieldHandlings<APIThreadChannel> &
  FieldHandlings<APIDMChannel> = {
  last_message_id: 'varies',
  topic: 'varies',
  nsfw: 'varies',
  rate_limit_per_user: 'varies',
  total_message_sent: 'varies',
  message_count: 'varies',
  member_count: 'varies',
  owner_id: 'varies',
  member: 'varies',
  recipients: 'kept',
  permission_overwrites: 'leaves',
  thread_metadata: 'leaves',
  applied_tags: 'unsent',
  default_auto_archive_duration: 'unsent',
  default_thread_rate_limit_per_user: 'unsent',
  flags: 'kept',
  guild_id: 'kept',
  last_pin_timestamp: 'unsent',
  name: 'kept',
  parent_id: 'kept',
};

const INTERACTION: FieldHandlings<APIChatInputApplicationCommandInteraction> &
  FieldHandlings<APIMessageComponentButtonInteraction> = {
  guild_locale: 'varies',
  context: 'varies',
  guild: 'varies',
  guild_id: 'kept',
  member: 'kept',
  message: 'kept',
  user: 'kept',
};

const REACTION: FieldHandlings<GatewayMessageReactionAddDispatchData> &
  FieldHandlings<GatewayMessageReactionRemoveDispatchData> &
  FieldHandlings<APIPartialEmoji> = {
  message_author_id: 'varies',
  burst_colors: 'unsent',
  animated: 'unsent',
  guild_id: 'kept',
  id: 'kept',
  member: 'varies',
  name: 'kept',
};

const ALL: readonly (readonly [string, FieldHandling])[] = [
  USER,
  MEMBER,
  ATTACHMENT,
  MESSAGE,
  CHANNEL,
  INTERACTION,
  REACTION,
].flatMap((fields) => Object.entries<FieldHandling>(fields));

const named = (how: FieldHandling) =>
  new Set(ALL.filter((one) => one[1] === how).map(([name]) => name));

/** The names of the fields marked `varies`. */
export const OPTIONAL_FIELDS: ReadonlySet<string> = named('varies');
/** The names of the fields marked `leaves`. */
export const NEVER_NULL: ReadonlySet<string> = named('leaves');
