/** Identifies a database and how far it has advanced; the counter only rises. */
export interface StoreMark {
  readonly name: string;
  readonly counter: number;
}

/** How a mark in the database relates to the one that a process has seen before. */
export type StoreMarkRelation = 'first' | 'onward' | 'behind' | 'other';

/**
 * Compares the mark that a process has seen with the one in the database. `behind`: confirmed rows
 * are missing, for example after a failover to a lagging replica. `other`: the database was
 * replaced on purpose, for example by a restore.
 */
export function compareStoreMarks(seen: StoreMark | null, found: StoreMark): StoreMarkRelation {
  if (seen === null) return 'first';
  if (seen.name !== found.name) return 'other';
  return found.counter < seen.counter ? 'behind' : 'onward';
}
