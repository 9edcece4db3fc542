/** Identifies a database and how far it has advanced: its counter only rises. */
export interface StoreMark {
  readonly name: string;
  readonly counter: number;
}

/** What a mark in the database means to a process that has seen another one. */
export type MarkVerdict = 'first' | 'onward' | 'behind' | 'other';

/**
 * Compares the mark that a process has seen with the one it finds. `behind`: confirmed rows are
 * gone, for example after a failover to a lagging replica or with an older copy. `other`: the
 * database was replaced on purpose, for example by a restore.
 */
export function judgeMark(seen: StoreMark | null, found: StoreMark): MarkVerdict {
  if (seen === null) return 'first';
  if (seen.name !== found.name) return 'other';
  return found.counter < seen.counter ? 'behind' : 'onward';
}
