import { describe, expect, it } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

const NOW = Date.UTC(2026, 10, 21, 12, 0, 0);

describe('Retry-After', () => {
  it.each([
    ['seconds', { 'retry-after': '20' }, 20_000],
    ['parts of a second', { 'retry-after': '0.5' }, 500],
    ['a date', { 'retry-after': 'Sat, 21 Nov 2026 12:00:30 GMT' }, 30_000],
    ['a date in the past', { 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, 0],
    ['milliseconds, which are more exact', { 'retry-after': '2', 'retry-after-ms': '1500' }, 1_500],
    ['nothing', {}, null],
    ['nonsense', { 'retry-after': 'soon' }, null],
    ['longer than a day', { 'retry-after': '99999999' }, null],
  ])('reads %s', (_name, headers: Record<string, string>, expected) => {
    expect(retryAfterMs(headers, NOW)).toBe(expected);
  });
});
