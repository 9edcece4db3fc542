/**
 * Stores file contents outside the rows, which refer to them by id. A row refers to an id only
 * after `put` has resolved, so the bytes behind a row are complete. Bytes that no row refers to
 * were left by a crash and may be removed.
 */
export interface ByteStore {
  /** Stores bytes under a new id. Resolves once all of them would survive a power cut. */
  put(bytes: Uint8Array): Promise<string>;
  /** Null unless all `size` bytes are stored. */
  get(id: string, size: number): Promise<Uint8Array | null>;
  /** Whether all `size` bytes are stored, without reading them. */
  has(id: string, size: number): Promise<boolean>;
  /** The ids of all stored files, complete or not. */
  list(): Promise<readonly string[]>;
  /** Removes files; ids that do not exist are ignored. */
  remove(ids: readonly string[]): Promise<void>;
}

/**
 * The maximum time that storing one file may take, in ms. The sweep of unreferenced files waits
 * longer than that.
 */
export const PUT_TIMEOUT_MS = 2 * 60_000;

/** Stands for a platform's file reference when the file must not be fetched again. */
export const NO_REF = '-';
