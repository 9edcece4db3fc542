/** Random choices that repeat for the same seed, so that a finding can be reproduced. */
export interface RandomChance {
  /** An integer from 0 up to, but excluding, `below`. */
  below(below: number): number;
  /** True with probability `share` (0 to 1). */
  happens(share: number): boolean;
  /** A random element of a non-empty list. */
  pick<T>(list: readonly T[]): T;
  /** Lower-case letters and digits. */
  letters(length: number): string;
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Creates a generator from a seed (mulberry32: small, fast and uniform enough for tests). */
export function createChance(seed: number): RandomChance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    happens: (share) => next() < share,
    pick(list) {
      const picked = list[below(list.length)];
      if (picked === undefined) throw new Error('There is nothing to pick from.');
      return picked;
    },
    letters: (length) => Array.from({ length }, () => LETTERS[below(LETTERS.length)]).join(''),
  };
}
