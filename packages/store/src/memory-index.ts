/** A memory as the index knows it: where it stands and where it came from, and never its words. */
export interface IndexedMemory {
  readonly file: string;
  readonly id: string;
  readonly type: string;
  readonly scope: string;
  readonly person: string | null;
  readonly words: string;
  /** `2026-11-21` */
  readonly savedOn: string | null;
  readonly channel: string | null;
  readonly chatId: string | null;
  readonly messageId: string | null;
}

/** The index of memories (G14). The files are the truth: `rebuild` makes it what they say. */
export interface MemoryIndex {
  add(memory: IndexedMemory): Promise<void>;
  remove(memories: readonly Pick<IndexedMemory, 'file' | 'id'>[]): Promise<void>;
  /** Makes the index of these files anew; what is known of their use is kept. */
  rebuild(memories: readonly IndexedMemory[], files: readonly string[]): Promise<void>;
  /** Counts one use of each. A power cut may take the last ones. */
  used(ids: readonly string[]): Promise<void>;
  /** How often each was of use; those that never were are left out. */
  uses(): Promise<ReadonlyMap<string, number>>;
  list(): Promise<readonly IndexedMemory[]>;
}
