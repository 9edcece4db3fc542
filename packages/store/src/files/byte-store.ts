/**
 * Stores file contents outside the rows, which refer to them by id. A row refers to an id only
 * after `put` has resolved, so its bytes are complete. Bytes that are not referenced by a row were
 * left behind by a crash and may be removed.
 */
export interface ByteStore {
  /** Stores bytes under a new id and resolves once they would survive a power cut. */
  put(bytes: Uint8Array): Promise<string>;
  /** Reads the bytes of a file; null unless all `size` bytes are stored. */
  get(id: string, size: number): Promise<Uint8Array | null>;
  /** Whether all `size` bytes are stored; does not read them. */
  has(id: string, size: number): Promise<boolean>;
  /** Lists the ids of all stored files, complete or not. */
  list(): Promise<readonly string[]>;
  /** Removes files; ids that do not exist are ignored. */
  remove(ids: readonly string[]): Promise<void>;
}

/** The maximum time for storing one file, in ms; the sweep of unreferenced files waits longer. */
export const PUT_TIMEOUT_MS = 2 * 60_000;

/** Replaces a platform's file reference if the file must not be fetched again. */
export const NO_REF = '-';
