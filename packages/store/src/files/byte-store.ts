/**
 * The store of files' bytes: outside of the rows, which name them by an id. A row names an id only after `put` has
 * resolved, so what a row names is complete; what no row names was left by a crash and may be removed.
 */
export interface ByteStore {
  /** Stores bytes under a new id. Resolves when all of them survive a power cut. */
  put(bytes: Uint8Array): Promise<string>;
  /** Null when they are not there, or not all `size` of them. */
  get(id: string, size: number): Promise<Uint8Array | null>;
  /** Whether all `size` bytes are there; they are not read. */
  has(id: string, size: number): Promise<boolean>;
  /** The ids of all that is there, complete or not. */
  list(): Promise<readonly string[]>;
  /** Removes bytes; what is not there is removed already. */
  remove(ids: readonly string[]): Promise<void>;
}

/** Storing one file takes at most so long, in ms; the sweep of what no row names waits longer than that. */
export const PUT_TIMEOUT_MS = 2 * 60_000;

/** Stands for a platform's reference to a file that must not be fetched again. */
export const NO_REF = '-';
