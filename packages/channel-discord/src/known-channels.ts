import type { Client } from 'discord.js';
import type { KnownChannel } from './what-to-fetch.ts';

/**
 * The channels and threads of servers that hold messages, with their last one. discord.js leaves that
 * undefined where Discord does not send it, whatever its types say.
 */
export function knownChannels(client: Client): KnownChannel[] {
  return [...client.channels.cache.values()].flatMap((channel) => {
    if (channel.isDMBased() || !channel.isTextBased()) return [];
    const { id, lastMessageId } = channel;
    return lastMessageId == null ? [] : [{ id, lastMessageId }];
  });
}
