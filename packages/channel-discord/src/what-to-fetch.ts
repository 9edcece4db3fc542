import { type Cursors, isLater } from './seen.ts';

/** A channel to read on from a message. */
export interface ToFetch {
  readonly channelId: string;
  readonly after: string;
}

/** A channel the gateway told of, with its last message. */
export interface KnownChannel {
  readonly id: string;
  readonly lastMessageId: string;
}

/** Channels read at most after one connect; Discord allows 50 calls a second. */
const MOST = 1_000;

/**
 * Decides which channels to read after a connect, and from where. Channels of servers tell their last
 * message, so only those with news are read; one that nothing was taken from yet (a new thread, a first
 * message) is read from the newest message of all. Those remembered of which nothing is told are read:
 * direct chats above all.
 */
export function whatToFetch(
  { newest, channels }: Cursors,
  known: readonly KnownChannel[],
): readonly ToFetch[] {
  const told = new Set(known.map(({ id }) => id));
  const withNews = known.flatMap(({ id, lastMessageId }) => {
    const after = channels.get(id) ?? newest;
    if (after === undefined || !isLater(lastMessageId, after)) return [];
    return [{ channelId: id, after, isServed: channels.has(id) }];
  });
  const untold = [...channels]
    .filter(([id]) => !told.has(id))
    .map(([channelId, after]) => ({ channelId, after, isServed: true }));
  return [...withNews, ...untold]
    .sort((a, b) => Number(b.isServed) - Number(a.isServed))
    .slice(0, MOST)
    .map(({ channelId, after }) => ({ channelId, after }));
}
