import { afterEach, describe, expect, it } from 'vitest';
import { isDueToday, scaleRunCount, toRunOptions } from './test-length.ts';

const before = process.env.PARLEY_TEST_WHOLE;
const choose = (value: string | undefined): void => {
  if (value === undefined) delete process.env.PARLEY_TEST_WHOLE;
  else process.env.PARLEY_TEST_WHOLE = value;
};
afterEach(() => choose(before));

describe('the share of a random test that runs', () => {
  it('[D17] is a fifth when a change is checked, and at least one case', () => {
    choose(undefined);
    expect([1_000, 7, 1].map(scaleRunCount)).toEqual([200, 2, 1]);
    expect(toRunOptions(300)).toEqual({ numRuns: 60, examples: [] });
  });

  it('[D17] is everything in a complete run', () => {
    choose('1');
    expect([1_000, 7, 1].map(scaleRunCount)).toEqual([1_000, 7, 1]);
  });

  it('[D17] selects another of several similar cases each day, until all have run', () => {
    const casesOf = (day: number) =>
      [0, 1, 2].filter((nth) => isDueToday(nth, 3, day * 86_400_000));
    choose(undefined);
    expect([6, 7, 8, 9].map(casesOf)).toEqual([[0], [1], [2], [0]]);
    choose('1');
    expect(casesOf(6)).toEqual([0, 1, 2]);
  });

  it('[D17] includes every example', () => {
    choose(undefined);
    const examples = Array.from({ length: 50 }, (_, index): [number] => [index]);
    expect(toRunOptions(10, examples)).toEqual({ numRuns: 52, examples });
  });
});
