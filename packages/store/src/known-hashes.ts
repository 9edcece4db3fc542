import { BoundedMap } from '@parley/core';
import { TEXT_KNOWN_MS } from './tables/turns.ts';

/** Remembered hashes: a few hundred kilobytes. */
const MAX_HASHES = 2_000;

/** Texts that are certainly in the database, so that a turn need not write them again. */
interface KnownHashes {
  has(hash: string, now: number): boolean;
  /** To be called once the rows are committed. */
  add(hashes: readonly string[], now: number): void;
  clear(): void;
}

/** A bounded memory; the oldest entries go first and are merely written once more. */
export function knownHashes(): KnownHashes {
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
