import { BoundedMap } from '@parley/core';
import { TEXT_KNOWN_MS } from './tables/turns.ts';

/** The maximum number of cached hashes; together, they take a few hundred kilobytes. */
const MAX_HASHES = 2_000;

/** Hashes of texts that are already in the database, so that a turn need not write them again. */
interface KnownHashes {
  has(hash: string, now: number): boolean;
  /** Adds the hashes of committed rows. */
  add(hashes: readonly string[], now: number): void;
  clear(): void;
}

/**
 * A cache of hashes with a limited size. The oldest entries are evicted, and a turn writes their
 * texts again.
 */
export function createKnownHashes(): KnownHashes {
  const known = new BoundedMap<string, number>(MAX_HASHES);
  return {
    has(hash, now) {
      const since = known.get(hash);
      return since !== undefined && now - since < TEXT_KNOWN_MS;
    },
    add(hashes, now) {
      for (const hash of hashes) known.set(hash, now);
    },
    clear: () => known.clear(),
  };
}
