import { describe, expect, it } from 'vitest';
import { describeUsedToday } from './people.tsx';

describe("a person's usage today", () => {
  it.each([
    ['without a limit', { tokens: 1_200, costUsd: 0 }, null, '1,200 tokens'],
    ['with a price', { tokens: 9, costUsd: 0.0123 }, null, '9 tokens ($0.0123)'],
    [
      'with a token limit',
      { tokens: 9, costUsd: 2 },
      { tokens: 50 },
      '9 tokens ($2.00) of 50 tokens',
    ],
    [
      'with both limits',
      { tokens: 0, costUsd: 0 },
      { tokens: 50, usd: 2 },
      '0 tokens of 50 tokens or $2.00',
    ],
  ])('[U12] shows the usage of the day beside the limit: %s', (_case, today, cap, text) => {
    const limits = cap === null ? null : { usd: undefined, ...cap };
    expect(describeUsedToday({ today, cap: limits })).toBe(text);
  });
});
