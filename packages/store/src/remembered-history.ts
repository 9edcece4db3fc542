import type { TranscriptEntry } from './rows.ts';

/** A line of the history, and why not all of it reached its chat, if so (D05). */
export interface RememberedEntry extends TranscriptEntry {
  readonly undelivered?: string;
}

/** A line of the history with its place in it. */
export interface NumberedEntry extends RememberedEntry {
  readonly seq: number;
  /** When it was stored, in ms. */
  readonly at: number;
}

/** The newest entries of a session behind its summary. */
export interface RememberedSession {
  readonly entries: readonly NumberedEntry[];
  /** `seq` of the last entry that is in the summary; 0 without one. */
  readonly reaches: number;
  /** About so long is the JSON of the entries. */
  readonly characters: number;
}

/**
 * The history read of sessions, so that a turn reads and parses only what came since the last one. It holds for one
 * version of the history and at most `characters` of it: what was not asked for longest goes.
 */
export class RememberedHistory {
  readonly #characters: number;
  readonly #sessions = new Map<string, RememberedSession>();
  #version = 0;
  #size = 0;

  constructor(characters: number) {
    this.#characters = characters;
  }

  get(key: string, version: number): RememberedSession | undefined {
    if (version !== this.#version) {
      this.#sessions.clear();
      this.#size = 0;
      this.#version = version;
    }
    return this.#sessions.get(key);
  }

  set(key: string, version: number, session: RememberedSession): void {
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
