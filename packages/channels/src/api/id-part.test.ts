import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toIdPart } from './id-part.ts';

describe('the part of an id that is derived from a client’s name', () => {
  const name = fc.oneof(
    fc.string({ maxLength: 80 }),
    fc.string({ maxLength: 8, unit: 'binary' }),
    fc.string({ minLength: 40, maxLength: 40, unit: fc.constantFrom(...'0123456789abcdef') }),
    fc.constantFrom('a\ud800', 'a\ud801', 'a\ufffd', '"a\\ud800"', '\ud800\u0080', '\0\u0600\0'),
  );
  /** Returns the name, an imitation of its hashed form, or an imitation of that imitation. */
  const imitated = fc
    .tuple(name, fc.nat({ max: 2 }))
    .map(([one, times]) => Array.from({ length: times }).reduce<string>(toIdPart, one));

  it('[F14] differs for different names, even if one name imitates the hash of another', () => {
    fc.assert(
      fc.property(imitated, imitated, (one, other) => {
        expect(toIdPart(one) === toIdPart(other)).toBe(one === other);
      }),
      toRunOptions(5_000),
    );
    expect(toIdPart('a\ud800')).not.toBe(toIdPart('a\ud801'));
  });

  it('does not contain a separator, and equals the parts that version 0.1.0 stored', () => {
    fc.assert(
      fc.property(imitated, (one) => {
        expect(toIdPart(one)).toMatch(/^[\w.@+-]{1,64}$/);
      }),
    );
    expect(toIdPart('ann@example.org')).toBe('ann@example.org');
    expect(toIdPart('ann/b')).toBe('7118851e75aa7f1ae61f121c34dfd5dfc4d32c27');
  });
});
