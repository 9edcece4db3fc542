/** Random choices that come out the same for the same seed, so that a find can be looked at again. */
export interface Chance {
  /** A whole number from 0 up to, not including, `below`. */
  below(below: number): number;
  /** True in `share` (0 to 1) of the cases. */
  happens(share: number): boolean;
  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T;
  /** Lower-case letters and digits. */
  letters(length: number): string;
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Makes one from a seed (mulberry32: small, fast and even enough for tests). */
export function chanceFrom(seed: number): Chance {
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
