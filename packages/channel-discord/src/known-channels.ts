import type { Client } from 'discord.js';
import type { KnownChannel } from './what-to-fetch.ts';

/** The channels and threads of servers that can hold messages, with their last one. */
export function knownChannels(client: Client): KnownChannel[] {
  return [...client.channels.cache.values()].flatMap((channel) => {
    if (channel.isDMBased() || !channel.isTextBased()) return [];
    return [{ id: channel.id, lastMessageId: channel.lastMessageId }];
  });
}
