/** Which database this is, and how far it has come: its counter only rises. */
export interface StoreMark {
  readonly name: string;
  readonly counter: number;
}

/** The meaning of a found mark for a process that has seen another one; both are of one moment. */
export type MarkVerdict = 'first' | 'onward' | 'behind' | 'other';

/**
 * Compares what a process has seen of its database with what it finds. `behind`: rows that were confirmed are gone,
 * as after a failover to a late replica or with an older copy. `other`: it was replaced on purpose, as by a restore.
 */
export function judgeMark(seen: StoreMark | null, found: StoreMark): MarkVerdict {
  if (seen === null) return 'first';
  if (seen.name !== found.name) return 'other';
  return found.counter < seen.counter ? 'behind' : 'onward';
}
