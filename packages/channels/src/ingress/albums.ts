import { BoundedMap, type InboundMessage, type Monotonic, type RenderTarget } from '@parley/core';
import type { AdmittedMessage } from '@parley/store';

/**
 * In groups, only one picture of an album has the text that addresses the bot, but the text refers
 * to all of them (F06, F08). The albums are held in memory and bounded: a picture received just
 * before a crash may lose its album.
 */
export interface AlbumTracker {
  /** Returns the message with `addressed` set if any message of its album has addressed the bot. */
  join(message: InboundMessage): InboundMessage;
  /** Holds a picture whose album has not addressed the bot so far. */
  hold(picture: AdmittedMessage): void;
  /**
   * Returns the held pictures of this message's album, oldest first; each picture is returned once.
   */
  release(message: InboundMessage): readonly AdmittedMessage[];
}

interface AlbumMemory {
  readonly since: number;
  addressed: boolean;
  held: readonly AdmittedMessage[];
}

const ALBUM_LIFETIME_MS = 60_000;
const MAX_ALBUMS = 1_000;
/** More than the largest album of any platform. */
const MAX_HELD = 32;

/** Creates the album memory of one account. */
export function createAlbumTracker(monotonic: Monotonic): AlbumTracker {
  const albums = new BoundedMap<string, AlbumMemory>(MAX_ALBUMS);
  const albumOf = ({ albumId, chat, sender }: InboundMessage): AlbumMemory | null => {
    if (albumId === undefined || chat.type === 'direct') return null;
    const key = JSON.stringify([chat.id, sender.id, albumId]);
    const known = albums.get(key);
    if (known !== undefined && monotonic() - known.since < ALBUM_LIFETIME_MS) return known;
    const album: AlbumMemory = { since: monotonic(), addressed: false, held: [] };
    albums.set(key, album);
    return album;
  };
  return {
    join(message) {
      const album = albumOf(message);
      if (album === null) return message;
      album.addressed ||= message.addressed;
      return { ...message, addressed: album.addressed };
    },
    hold(picture) {
      const album = albumOf(picture.message);
      if (album !== null) album.held = [...album.held, picture].slice(-MAX_HELD);
    },
    release(message) {
      const album = albumOf(message);
      const held = album?.held ?? [];
      if (album !== null) album.held = [];
      return held;
    },
  };
}

/** Pictures in an album, and pieces of a long paste, arrive within about a second of each other. */
const MORE_WITHIN_MS = 1_000;

/** A text with at least this share of the maximum length may be a paste that the platform split. */
const NEARLY_FULL = 0.9;

/**
 * The time (ms) until which more of the same burst may arrive, so that no turn starts with only the
 * beginning (F08); undefined for all other messages, which are never delayed.
 */
export function computeSettleTime(
  { albumId, text }: Pick<InboundMessage, 'albumId' | 'text'>,
  { maxLength }: Pick<RenderTarget, 'maxLength'>,
  receivedAt: number,
): number | undefined {
  const isBurst = albumId !== undefined || text.length >= maxLength * NEARLY_FULL;
  return isBurst ? receivedAt + MORE_WITHIN_MS : undefined;
}
