import type { TranscriptEntry } from './rows.ts';

/** A history entry, with the reason if its answer did not reach the chat completely (D05). */
export interface RememberedEntry extends TranscriptEntry {
  readonly undelivered?: string;
}

/** A history entry with its number. */
export interface NumberedEntry extends RememberedEntry {
  readonly seq: number;
  /** When the entry was stored, in ms. */
  readonly at: number;
}

/** A session's newest entries, after its summary. */
export interface CachedSession {
  readonly entries: readonly NumberedEntry[];
  /** The `seq` of the last entry covered by the summary; 0 without a summary. */
  readonly reaches: number;
  /** The approximate length of the entries as JSON. */
  readonly characters: number;
}

/**
 * Caches the history of recently read sessions, so that a turn reads and parses only new entries.
 * The cache is valid for one history version and holds at most `characters`; the least recently
 * used sessions are evicted.
 */
export class HistoryCache {
  readonly #characters: number;
  readonly #sessions = new Map<string, CachedSession>();
  #version = 0;
  #size = 0;

  constructor(characters: number) {
    this.#characters = characters;
  }

  get(key: string, version: number): CachedSession | undefined {
    if (version !== this.#version) {
      this.#sessions.clear();
      this.#size = 0;
      this.#version = version;
    }
    return this.#sessions.get(key);
  }

  set(key: string, version: number, session: CachedSession): void {
    this.#size -= this.get(key, version)?.characters ?? 0;
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    this.#size += session.characters;
    for (const [oldest, { characters }] of this.#sessions) {
      if (this.#size <= this.#characters) break;
      this.#sessions.delete(oldest);
      this.#size -= characters;
    }
  }
}
