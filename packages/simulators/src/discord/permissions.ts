import { createMissingAccessRefusal, createMissingPermissionsRefusal } from './request.ts';
import { isObject, type Json } from './wire.ts';
import {
  type Channel,
  PERMISSION,
  type PermissionName,
  type World,
  type WorldEvent,
} from './world.ts';

/**
 * Whether the bot has a permission in a channel. Direct messages with the bot require no
 * permissions.
 */
export function hasBotPermission(
  world: World,
  channel: Channel,
  permission: PermissionName,
): boolean {
  if (channel.guildId === undefined) return channel.people === undefined;
  return (getBotPermissions(world, channel) & PERMISSION[permission]) !== 0n;
}

/** The bot's permissions in a guild channel, as bits; 0 when the bot is not a member. */
export function getBotPermissions(world: World, channel: Channel): bigint {
  const guild = world.guildOf(channel);
  if (guild === undefined || guild.left) return 0n;
  const above = channel.parentId === undefined ? undefined : world.channels.get(channel.parentId);
  return guild.permissions & ~(channel.denied | (above?.denied ?? 0n));
}

/**
 * Returns the channel if the bot can see it and has the permission there.
 * @throws Refusal with code 10003 (unknown channel), 50001 (missing access) or 50013 (missing
 * permissions)
 */
export function requireChannel(
  world: World,
  id: string,
  permission: PermissionName = 'view',
): Channel {
  const channel = world.channel(id);
  if (!hasBotPermission(world, channel, 'view')) throw createMissingAccessRefusal();
  if (!hasBotPermission(world, channel, permission)) throw createMissingPermissionsRefusal();
  return channel;
}

/** The groups of events a bot can subscribe to, as bits. */
export const INTENT = {
  guilds: 1 << 0,
  members: 1 << 1,
  presences: 1 << 8,
  guildMessages: 1 << 9,
  guildReactions: 1 << 10,
  guildTyping: 1 << 11,
  directMessages: 1 << 12,
  directReactions: 1 << 13,
  directTyping: 1 << 14,
  content: 1 << 15,
} as const;

/**
 * The privileged intents, which must be enabled in the developer portal; requesting a disabled
 * intent closes the connection with 4014.
 */
export const PRIVILEGED = INTENT.members | INTENT.presences | INTENT.content;

/**
 * The intents of API version 10: bits 0–16, 20, 21, 24 and 25; other bits close the connection with
 */
const KNOWN = 0x1_ffff | (1 << 20) | (1 << 21) | (1 << 24) | (1 << 25);

export function isValidIntents(intents: number): boolean {
  return Number.isInteger(intents) && intents >= 0 && (intents & ~KNOWN) === 0;
}

/** The intent required for an event; 0 when it is always delivered. */
export function getRequiredIntent(event: string, inGuild: boolean): number {
  if (event.startsWith('MESSAGE_REACTION_'))
    return inGuild ? INTENT.guildReactions : INTENT.directReactions;
  if (event.startsWith('MESSAGE_')) return inGuild ? INTENT.guildMessages : INTENT.directMessages;
  if (event === 'TYPING_START') return inGuild ? INTENT.guildTyping : INTENT.directTyping;
  if (event.startsWith('GUILD_MEMBER_')) return INTENT.members;
  if (event.startsWith('GUILD_ROLE_')) return INTENT.guilds;
  if (event === 'THREAD_CREATE' || event === 'THREAD_UPDATE' || event === 'THREAD_DELETE')
    return INTENT.guilds;
  if (event.startsWith('CHANNEL_')) return inGuild ? INTENT.guilds : INTENT.directMessages;
  return event === 'GUILD_CREATE' || event === 'GUILD_DELETE' ? INTENT.guilds : 0;
}

/**
 * A message event as a bot with these intents receives it. Without the message content intent the
 * content is empty, except in direct messages, in the bot's own messages and in messages that
 * mention the bot.
 */
export function filterByIntents(event: WorldEvent, intents: number, botId: string): Json {
  const { data } = event;
  const isMessage = event.name === 'MESSAGE_CREATE' || event.name === 'MESSAGE_UPDATE';
  if (!isMessage || event.guildId === undefined || (intents & INTENT.content) !== 0) return data;
  return hideContent(data, botId);
}

/** A guild message without the fields protected by the intent. */
export function hideContent(message: Json, botId: string): Json {
  const quoted = message.referenced_message;
  const inner = isObject(quoted) ? { referenced_message: hideContent(quoted, botId) } : {};
  const mentions = message.mentions;
  const mentioned = Array.isArray(mentions) && mentions.some((user) => getId(user) === botId);
  if (mentioned || getId(message.author) === botId) return { ...message, ...inner };
  const { poll: _poll, message_snapshots: _snapshots, ...rest } = message;
  return { ...rest, ...inner, content: '', embeds: [], attachments: [], components: [] };
}

function getId(value: unknown): unknown {
  return isObject(value) ? value.id : undefined;
}
