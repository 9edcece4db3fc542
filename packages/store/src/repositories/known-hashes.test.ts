import { describe, expect, it } from 'vitest';
import { KNOWN_FOR_MS, knownHashes } from './known-hashes.ts';

describe('hashes that are known', () => {
  it('[P17] are known for an hour, so that the rows of used texts stay young', () => {
    const known = knownHashes();
    known.add(['a'], 0);
    expect(known.has('a', KNOWN_FOR_MS - 1)).toBe(true);
    expect(known.has('a', KNOWN_FOR_MS)).toBe(false);
    expect(known.has('b', 0)).toBe(false);
  });

  it('[P17] are bounded: the oldest are forgotten', () => {
    const known = knownHashes();
    known.add(['first', 'again'], 0);
    known.add(['again'], 1);
    known.add(
      Array.from({ length: 1_999 }, (_, index) => `h${index}`),
      2,
    );
    expect(known.has('first', 2)).toBe(false);
    expect(known.has('again', 2)).toBe(true);
  });
});
