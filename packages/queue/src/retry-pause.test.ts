import { describe, expect, it } from 'vitest';
import { computeWakeUpRetryDelay } from './keyed-work.ts';

describe('the delay before failed work is retried', () => {
  it.each([
    [1, 500],
    [2, 1_000],
    [3, 2_000],
    [4, 4_000],
    [5, 5_000],
    [8, 5_000],
    [100, 5_000],
  ])('[D05] after %i failures is at most %i ms', (attempt, longest) => {
    expect(computeWakeUpRetryDelay(attempt, 0.999_999)).toBe(longest);
    expect(computeWakeUpRetryDelay(attempt, 0)).toBe(longest / 2);
  });
});
