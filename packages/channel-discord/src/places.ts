import type { SenderFacts } from '@parley/channels';
import type { InboundMessage } from '@parley/core';
import { type Client, PermissionFlagsBits, PermissionsBitField } from 'discord.js';
import type { DiscordApi } from './api.ts';
import type { WireChannel, WireMember } from './wire.ts';

/** The chat to which a message belongs, and the names of roles and channels there. */
export interface ChatDetails {
  readonly chat: InboundMessage['chat'];
  readonly guildId?: string | undefined;
  /** False in a server where the bot is not a member. */
  readonly isMember?: boolean;
  /** The person who started the thread. */
  readonly threadOwner?: string | undefined;
  /** Whether a thread can be started from a message in the channel. */
  readonly takesThreads?: boolean;
  /** The role with the bot's own name, which people mention instead of the bot. */
  readonly botRole?: string | undefined;
  nameOf(kind: 'role' | 'channel', id: string): string | undefined;
}

/**
 * Finds the chat of a channel. Rejects if it has to ask Discord and Discord does not respond. If an
 * event describes the channel (`brought`), no request is needed.
 */
export type FindChatDetails = (channelId: string, brought?: WireChannel) => Promise<ChatDetails>;

/** Types of text and announcement channels. */
const TAKES_THREADS: ReadonlySet<number> = new Set([0, 5]);
/** Whether a channel of this type is a thread or a forum post. */
export const isThread = (type: number): boolean => type >= 10 && type <= 12;

/**
 * Creates a lookup of chats. A channel is a chat, and a thread or forum post is a thread in its
 * channel. Access to a channel therefore covers its threads, and each thread is a separate
 * conversation. discord.js knows the channels of servers; other channels (direct messages) are
 * requested once.
 */
export function createChatLookup(
  current: () => Client | undefined,
  api: Pick<DiscordApi, 'channel'>,
): FindChatDetails {
  const asked = new Map<string, WireChannel>();
  const channel = async (id: string): Promise<WireChannel> => {
    const known = findKnownChannel(current(), id) ?? asked.get(id);
    if (known !== undefined) return known;
    const answer = await api.channel(id);
    if (asked.size >= MAX_CACHED) asked.clear();
    asked.set(id, answer);
    return answer;
  };
  /** The parent channel; if the bot may not request it, only its name is missing. */
  const parent = async (id: string, isBrought: boolean) =>
    isBrought ? findKnownChannel(current(), id) : channel(id);
  return async (channelId, brought) => {
    const here = findKnownChannel(current(), channelId) ?? brought ?? (await channel(channelId));
    const parentId = isThread(here.type) ? here.parent_id : undefined;
    const above = parentId == null ? undefined : await parent(parentId, here === brought);
    const client = current();
    const guild = here.guild_id == null ? undefined : client?.guilds.cache.get(here.guild_id);
    const me = client?.user;
    return {
      chat: toChat(here, above, guild?.name),
      guildId: here.guild_id ?? undefined,
      isMember: here.guild_id == null || guild !== undefined,
      threadOwner: isThread(here.type) ? (here.owner_id ?? undefined) : undefined,
      takesThreads: TAKES_THREADS.has(here.type),
      botRole: me == null ? undefined : guild?.roles.botRoleFor(me)?.id,
      nameOf: (kind, id) =>
        kind === 'role'
          ? guild?.roles.cache.get(id)?.name
          : (findKnownChannel(client, id)?.name ?? undefined),
    };
  };
}

/**
 * The maximum number of cached channels, most of them direct chats. If the limit is exceeded, the
 * cache is cleared and channels are requested again.
 */
const MAX_CACHED = 5_000;

/** A channel from discord.js's cache. A thread counts as unknown if its parent is unknown. */
function findKnownChannel(client: Client | undefined, id: string): WireChannel | undefined {
  const channel = client?.channels.cache.get(id);
  if (channel === undefined || channel.isDMBased() || channel.partial) return undefined;
  if (channel.isThread() && channel.parentId === null) return undefined;
  const { type, guildId, name, parentId } = channel;
  const owner = channel.isThread() ? channel.ownerId : undefined;
  return { id, type, guild_id: guildId, name, parent_id: parentId, owner_id: owner };
}

export function toChat(
  here: WireChannel,
  above: WireChannel | undefined,
  guildName: string | undefined,
): InboundMessage['chat'] {
  if (here.type === 1) return { id: here.id, type: 'direct' };
  const names = [above?.name, here.name].filter((name) => name != null).map((name) => `#${name}`);
  const title = [guildName, names.join(' › ')].filter(Boolean).join(' ');
  const titled = title === '' ? {} : { title };
  if (!isThread(here.type) || here.parent_id == null)
    return { id: here.id, type: 'group', ...titled };
  return { id: here.parent_id, type: 'thread', threadId: here.id, ...titled };
}

/** The author of a message and the server, as stated in the event. */
export interface GuildAuthor {
  readonly guildId: string | undefined;
  readonly userId: string;
  readonly member: WireMember | null | undefined;
}

/**
 * Permissions that make a member an administrator: managing the server, or other people's messages.
 */
const ADMINISTRATORS = [
  PermissionFlagsBits.Administrator,
  PermissionFlagsBits.ManageGuild,
  PermissionFlagsBits.ManageMessages,
];

/**
 * Determines whether the author of a message is an administrator of the server, from the event and
 * the roles that discord.js knows, without a request. Messages fetched after downtime do not
 * contain roles, so their authors do not count as administrators; `roles` requests the roles.
 */
export function createSenderFacts(
  current: () => Client | undefined,
  api: Pick<DiscordApi, 'rolesOf'>,
): (author: GuildAuthor) => SenderFacts {
  return ({ guildId, userId, member }) => ({
    ...(guildId !== undefined && { roles: (signal) => api.rolesOf(guildId, userId, signal) }),
    isAdministrator: async () => {
      const guild = guildId === undefined ? undefined : current()?.guilds.cache.get(guildId);
      if (guild?.ownerId === userId) return true;
      if (member?.permissions !== undefined) {
        return new PermissionsBitField(BigInt(member.permissions)).any(ADMINISTRATORS);
      }
      const roles = guild === undefined ? [] : [guild.id, ...(member?.roles ?? [])];
      return roles.some((id) => guild?.roles.cache.get(id)?.permissions.any(ADMINISTRATORS));
    },
  });
}
