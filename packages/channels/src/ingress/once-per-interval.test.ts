import { describe, expect, it } from 'vitest';
import { createIntervalGate } from './limits.ts';

describe('a rate-limited notice', () => {
  it('[D07] is sent once per key and interval', () => {
    let now = 0;
    const seldom = createIntervalGate(100, () => now);
    expect([seldom('a'), seldom('a'), seldom('b')]).toEqual([true, false, true]);
    now = 99;
    expect(seldom('a')).toBe(false);
    now = 100;
    expect([seldom('a'), seldom('a')]).toEqual([true, false]);
  });

  it('[D07] remembers a bounded number of keys, dropping the oldest', () => {
    const seldom = createIntervalGate(100, () => 0, 3);
    for (const key of ['a', 'b', 'c', 'd']) seldom(key);
    expect([seldom('b'), seldom('c'), seldom('d')]).toEqual([false, false, false]);
    expect(seldom('a')).toBe(true);
  });
});
