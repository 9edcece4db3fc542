import type { Clock, InboundMessage, RenderTarget } from '@parley/contracts';

/** Pictures of an album, and pieces of a long paste, arrive within about a second of each other. */
const MORE_WITHIN_MS = 1_000;

/** A text this near to the longest (in parts of 1) may be a paste that the platform cut into pieces. */
const NEARLY_FULL = 0.9;

/**
 * Until when (ms) more of the same burst may arrive, so that no turn takes the beginning alone (F08);
 * undefined for all other messages, which nothing delays.
 */
export function settlesAt(
  { albumId, text }: Pick<InboundMessage, 'albumId' | 'text'>,
  { maxLength }: Pick<RenderTarget, 'maxLength'>,
  receivedAt: number,
): number | undefined {
  const isBurst = albumId !== undefined || text.length >= maxLength * NEARLY_FULL;
  return isBurst ? receivedAt + MORE_WITHIN_MS : undefined;
}

const REMEMBERED_MS = 60_000;
const REMEMBERED_ALBUMS = 1_000;

/**
 * Only one picture of an album has the words that address the bot; those that follow it belong to it.
 * Gives back the message with `addressed` as its album has it. Remembered in memory, bounded.
 */
export function createAlbums(clock: Clock): (message: InboundMessage) => InboundMessage {
  const addressed = new Map<string, number>();
  return (message) => {
    const { albumId, chat, sender } = message;
    if (albumId === undefined) return message;
    const key = JSON.stringify([chat.id, sender.id, albumId]);
    const now = clock();
    const at = addressed.get(key);
    if (at !== undefined && now - at < REMEMBERED_MS) return { ...message, addressed: true };
    if (!message.addressed) return message;
    addressed.delete(key);
    addressed.set(key, now);
    const oldest = addressed.keys().next().value;
    if (addressed.size > REMEMBERED_ALBUMS && oldest !== undefined) addressed.delete(oldest);
    return message;
  };
}
