/** One value to keep under (kind, id); null removes it. */
export interface AdapterValue {
  readonly kind: string;
  readonly id: string;
  readonly value: string | null;
}

/**
 * What one channel account must remember and the core never reads: session keys, offsets. As durable
 * as messages. Values are text, so an adapter decides how to write and check its own.
 */
export interface AdapterValues {
  /** The values there are, by id; ids without one are missing from the answer. */
  get(kind: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Writes all or nothing, and has written when it resolves. The last of two changes to one id counts. */
  set(changes: readonly AdapterValue[]): Promise<void>;
  /** Forgets everything of this account: it was logged out. */
  clear(): Promise<void>;
}
