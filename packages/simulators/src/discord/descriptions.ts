import type { Json } from './wire.ts';
import { CHANNEL_TYPE, type Channel, type Guild, PERMISSION, type World } from './world.ts';

/** A channel as described in an interaction, even if the bot cannot see the channel. */
export function describeInteractionChannel(world: World, channel: Channel, userId: string): Json {
  const { id, type, name, people } = channel;
  if (people === undefined) return describeChannel(world, channel);
  const recipients = people.filter((one) => one.id !== userId);
  const named = type === CHANNEL_TYPE.groupDm ? { name: name === '' ? null : name } : {};
  return { id, type, ...named, recipients, flags: 0 };
}

export function describeChannel(world: World, channel: Channel): Json {
  if (channel.type === CHANNEL_TYPE.dm) {
    return { id: channel.id, type: channel.type, recipients: [channel.recipient], flags: 0 };
  }
  const last = [...channel.messages.keys()].at(-1) ?? null;
  const common = {
    id: channel.id,
    type: channel.type,
    guild_id: channel.guildId,
    name: channel.name,
    parent_id: channel.parentId ?? null,
    last_message_id: last,
    rate_limit_per_user: 0,
    flags: 0,
  };
  if (channel.type === CHANNEL_TYPE.thread) {
    return {
      ...common,
      owner_id: channel.ownerId,
      message_count: channel.messages.size,
      member_count: 1,
      total_message_sent: channel.messages.size,
      thread_metadata: {
        archived: channel.archived,
        locked: channel.locked,
        auto_archive_duration: 1440,
        archive_timestamp: new Date(world.clock()).toISOString(),
      },
    };
  }
  const overwrite = { id: world.bot.id, type: 1, allow: '0', deny: String(channel.denied) };
  return {
    ...common,
    topic: null,
    nsfw: false,
    position: 0,
    permission_overwrites: channel.denied === 0n ? [] : [overwrite],
    ...(channel.type === CHANNEL_TYPE.forum ? { available_tags: [] } : {}),
  };
}

/** A guild member without `user`, as in guild messages and events. */
export function describeMember(guild: Guild, userId: string): Json {
  return {
    nick: guild.members.get(userId) ?? null,
    roles: guild.moderators.has(userId) ? [guild.moderatorRoleId] : [],
    joined_at: '2026-01-01T00:00:00.000Z',
    deaf: false,
    mute: false,
    flags: 0,
  };
}

/** A guild with its channels, threads and members, as in GUILD_CREATE. */
export function describeGuild(world: World, guild: Guild): Json {
  const channels = [...world.channels.values()].filter(({ guildId }) => guildId === guild.id);
  const isThread = ({ type }: Channel) => type === CHANNEL_TYPE.thread;
  return {
    id: guild.id,
    name: guild.name,
    owner_id: guild.ownerId,
    unavailable: false,
    large: false,
    joined_at: '2026-01-01T00:00:00.000Z',
    member_count: guild.members.size,
    members: [...guild.members.keys()].map((id) => ({
      ...describeMember(guild, id),
      user: world.user(id),
    })),
    roles: describeRoles(guild, world.bot.id),
    channels: channels
      .filter((channel) => !isThread(channel))
      .map((c) => describeChannel(world, c)),
    threads: channels
      .filter((channel) => isThread(channel) && !channel.archived)
      .map((channel) => describeChannel(world, channel)),
    emojis: [],
    stickers: [],
    features: [],
    presences: [],
    voice_states: [],
    guild_scheduled_events: [],
    stage_instances: [],
    soundboard_sounds: [],
    preferred_locale: 'en-US',
    premium_tier: 0,
    nsfw_level: 0,
    verification_level: 0,
    default_message_notifications: 0,
    explicit_content_filter: 0,
    mfa_level: 0,
    system_channel_flags: 0,
    afk_timeout: 300,
    premium_progress_bar_enabled: false,
  };
}

function computeRolePermissions(guild: Guild, roleId: string): bigint {
  if (roleId === guild.id) return guild.permissions;
  return roleId === guild.moderatorRoleId ? PERMISSION.manageMessages : 0n;
}

function describeRoles(guild: Guild, botId: string): Json[] {
  return [...guild.roles].map(([id, name], position) => ({
    id,
    name,
    position,
    permissions: String(computeRolePermissions(guild, id)),
    color: 0,
    colors: { primary_color: 0, secondary_color: null, tertiary_color: null },
    hoist: false,
    managed: id === guild.botRoleId,
    ...(id === guild.botRoleId ? { tags: { bot_id: botId } } : {}),
    mentionable: true,
    flags: 0,
  }));
}
