/** Random numbers in [0, 1), determined by a seed. */
export interface RandomChance {
  next(): number;
  /** A number in [from, to). */
  between(from: number, to: number): number;
  /** True with this probability. */
  happens(probability: number): boolean;
  /** One of the values. Throws for an empty list. */
  one<T>(values: readonly T[]): T;
}

/**
 * Returns a separate random stream for each name. Thus, if the product draws another number, the
 * faults and the messages do not change, and a shortened list of faults still meets the same
 * people.
 */
export function createChance(seed: number, name: string): RandomChance {
  let state = seed >>> 0;
  for (const character of name)
    state = (Math.imul(state, 31) + (character.codePointAt(0) ?? 0)) | 0;
  // Mulberry32 by Tommy Ettinger, public domain.
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (from, to) => from + next() * (to - from),
    happens: (probability) => next() < probability,
    one<T>(values: readonly T[]): T {
      if (values.length === 0) throw new Error('cannot choose from an empty list');
      return values[Math.floor(next() * values.length)] as T;
    },
  };
}
