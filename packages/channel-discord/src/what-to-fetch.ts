import type { Client } from 'discord.js';
import { isLater } from './positions.ts';
import type { MessageCursors } from './seen.ts';
import { Snowflake } from './wire.ts';

/** A channel that the gateway listed, with its last message. */
export interface KnownChannel {
  readonly id: string;
  readonly lastMessageId: string;
}

/** A channel to read, starting after the message `after`. */
interface ChannelFetch {
  readonly channelId: string;
  readonly after: string;
}

/** The maximum number of channels that are read after one connect. */
const MAX_CHANNELS = 10_000;

/**
 * Decides which channels to read after a connect, and from which message. The gateway lists the
 * channels of servers with their last message, so only those with newer messages are read. A
 * channel without a stored message (a new thread, a first message) is read from the newest message
 * of all channels. Known channels that are not listed (mostly direct chats) are read as well.
 * Served channels come first, those with the most recent messages before the others; `left` counts
 * the channels beyond the limit.
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
 * The channels and threads of servers with their last message. discord.js leaves the last message
 * undefined when Discord does not send it, whatever its types say.
 */
export function listKnownChannels(client: Client): KnownChannel[] {
  return [...client.channels.cache.values()].flatMap((channel) => {
    if (channel.isDMBased() || !channel.isTextBased()) return [];
    const { id, lastMessageId } = channel;
    const last = Snowflake.safeParse(lastMessageId);
    return last.success ? [{ id, lastMessageId: last.data }] : [];
  });
}
