import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editDistance, nearest } from './check.ts';

describe('editDistance', () => {
  it.each([
    ['', '', 0],
    ['', 'abc', 3],
    ['kitten', 'sitting', 3],
    ['auot', 'auto', 1],
    ['tokne', 'token', 1],
    ['abcd', 'badc', 2],
  ])('of %j and %j is %i', (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance);
  });

  it('is symmetric, and bounded by the lengths', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
        const distance = editDistance(a, b);
        expect(distance).toBe(editDistance(b, a));
        expect(distance).toBeGreaterThanOrEqual(Math.abs(a.length - b.length));
        expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
        expect(distance === 0).toBe(a === b);
      }),
    );
  });
});

describe('nearest', () => {
  it.each([
    ['levle', ['level', 'format'], 'level'],
    ['API_KEY', ['apiKey', 'baseUrl'], 'apiKey'],
    ['time-zone', ['timeZone'], 'timeZone'],
    ['zebra', ['level', 'format'], undefined],
    ['x', [], undefined],
    ['prt', ['port', 'part'], 'port'],
  ])('[D12] takes %s for the one of %j that was meant', (written, candidates, meant) => {
    expect(nearest(written, candidates)).toBe(meant);
  });
});
