import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findLargestWithinLoad } from './cut.ts';

const growing = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 60 });

it('finds the largest count that fits, however unevenly the sizes grow', () => {
  fc.assert(
    fc.property(growing, fc.double({ min: 0.01, max: 10, noNaN: true }), (steps, room) => {
      const load = (count: number) =>
        steps.slice(0, count).reduce((sum, step) => sum + step, 0) / room;
      let expected = 0;
      while (expected < steps.length && load(expected + 1) <= 1) expected += 1;
      expect(findLargestWithinLoad(steps.length, load)).toBe(expected);
    }),
  );
});

it.each([
  [0, 0],
  [3, 1_000_000],
  [2_000, 1_000_000],
])('tries few counts to find %i of %i', (answer, max) => {
  let looked = 0;
  const load = (count: number) => {
    looked += 1;
    return count / (answer + 0.5);
  };
  expect(findLargestWithinLoad(max, load)).toBe(answer);
  expect(looked).toBeLessThan(30);
});
