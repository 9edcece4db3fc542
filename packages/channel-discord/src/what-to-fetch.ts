import type { Client } from 'discord.js';
import { isLater } from './positions.ts';
import type { MessageCursors } from './seen.ts';
import { Snowflake } from './wire.ts';

/** A channel that the gateway has listed, and its last message. */
export interface KnownChannel {
  readonly id: string;
  readonly lastMessageId: string;
}

/** A channel to read, starting after the message `after`. */
interface ChannelFetch {
  readonly channelId: string;
  readonly after: string;
}

/** The maximum number of channels that are read after a connection. */
const MAX_CHANNELS = 10_000;

/**
 * Decides which channels to read after a connection, and after which message to start. The gateway
 * lists server channels with their last message, so only channels with newer messages are read. A
 * channel without a stored message (a new thread, a first message) is read starting at the newest
 * message in all channels. Known channels that are not listed, most of them direct chats, are read
 * as well. Served channels come first, starting with those that have the most recent messages;
 * `left` counts the channels beyond the limit.
 */
export function planFetches(
  { newest, channels }: MessageCursors,
  known: readonly KnownChannel[],
): { readonly fetch: readonly ChannelFetch[]; readonly left: number } {
  const listed = new Set(known.map(({ id }) => id));
  const withNewer = known.flatMap(({ id, lastMessageId }) => {
    const after = channels.get(id) ?? newest;
    if (after === undefined || !isLater(lastMessageId, after)) return [];
    return [{ channelId: id, after, last: lastMessageId, isServed: channels.has(id) }];
  });
  const unlisted = [...channels]
    .filter(([id]) => !listed.has(id))
    .map(([channelId, after]) => ({ channelId, after, last: after, isServed: true }));
  const all = [...withNewer, ...unlisted].sort(
    (a, b) => Number(b.isServed) - Number(a.isServed) || (isLater(b.last, a.last) ? 1 : -1),
  );
  const fetch = all.slice(0, MAX_CHANNELS).map(({ channelId, after }) => ({ channelId, after }));
  return { fetch, left: all.length - fetch.length };
}

/**
 * The channels and threads in servers, each with its last message. If Discord does not send the
 * last message, discord.js leaves it undefined, contrary to its types.
 */
export function listKnownChannels(client: Client): KnownChannel[] {
  return [...client.channels.cache.values()].flatMap((channel) => {
    if (channel.isDMBased() || !channel.isTextBased()) return [];
    const { id, lastMessageId } = channel;
    const last = Snowflake.safeParse(lastMessageId);
    return last.success ? [{ id, lastMessageId: last.data }] : [];
  });
}
