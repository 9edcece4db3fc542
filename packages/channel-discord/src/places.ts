import type { InboundMessage } from '@parley/contracts';
import type { Client } from 'discord.js';
import type { DiscordApi } from './discord-api.ts';
import type { WireChannel } from './wire.ts';

/** Where a message stands, as the core knows it, and how roles and channels are called there. */
export interface Place {
  readonly chat: InboundMessage['chat'];
  /** The role with the bot's own name, which people mention instead of the bot. */
  readonly botRole?: string | undefined;
  nameOf(kind: 'role' | 'channel', id: string): string | undefined;
}

/** Finds out where a channel is. Rejects when Discord has to be asked and does not answer. */
export type FindPlace = (channelId: string) => Promise<Place>;

const isThread = (type: number): boolean => type >= 10 && type <= 12;

/**
 * A chat is a channel, and a thread or forum post is a thread of the channel it belongs to: so that
 * access to a channel covers its threads, and each thread is a conversation by itself. discord.js knows
 * the channels of servers; others (direct messages) are asked for once.
 */
export function createPlaces(
  current: () => Client | undefined,
  api: Pick<DiscordApi, 'channel'>,
): FindPlace {
  const asked = new Map<string, WireChannel>();
  const channel = async (id: string): Promise<WireChannel> => {
    const known = knownChannel(current(), id) ?? asked.get(id);
    if (known !== undefined) return known;
    const answer = await api.channel(id);
    if (asked.size >= MOST_ASKED) asked.clear();
    asked.set(id, answer);
    return answer;
  };
  return async (channelId) => {
    const here = await channel(channelId);
    const parentId = isThread(here.type) ? here.parent_id : undefined;
    const above = parentId == null ? undefined : await channel(parentId);
    const client = current();
    const guild = here.guild_id == null ? undefined : client?.guilds.cache.get(here.guild_id);
    const me = client?.user;
    return {
      chat: chatOf(here, above, guild?.name),
      botRole: me == null ? undefined : guild?.roles.botRoleFor(me)?.id,
      nameOf: (kind, id) =>
        kind === 'role'
          ? guild?.roles.cache.get(id)?.name
          : (knownChannel(client, id)?.name ?? undefined),
    };
  };
}

/** Direct chats, mostly; after that many all are asked for again. */
const MOST_ASKED = 5_000;

/** A channel as the gateway told it; a thread whose parent is not known counts as unknown. */
function knownChannel(client: Client | undefined, id: string): WireChannel | undefined {
  const channel = client?.channels.cache.get(id);
  if (channel === undefined || channel.isDMBased() || channel.partial) return undefined;
  if (channel.isThread() && channel.parentId === null) return undefined;
  const { type, guildId, name, parentId } = channel;
  return { id, type, guild_id: guildId, name, parent_id: parentId };
}

/** Decides which chat a channel is. Pure. */
export function chatOf(
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
