import { describe, expect, it } from 'vitest';
import { BoundedMap, memoizeByText } from './cache.ts';

describe('a bounded map', () => {
  it('drops the oldest entry when it is full', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1).set('b', 2).set('a', 3).set('c', 4);
    expect([...map]).toEqual([
      ['a', 3],
      ['c', 4],
    ]);
  });

  it('keeps nothing when its capacity is zero', () => {
    expect(new BoundedMap<string, number>(0).set('a', 1).size).toBe(0);
  });
});

describe('a cache for text functions', () => {
  it('computes each value once, and again after the value was dropped', () => {
    const made: string[] = [];
    const length = memoizeByText((text) => made.push(text), 40);
    const [a, b] = ['a'.repeat(10), 'b'.repeat(10)];
    expect([length(a), length(b), length(a)]).toEqual([1, 2, 1]);
    length.clear();
    expect(length(a)).toBe(3);
  });

  it('stays within its limit, keeps recently used text, and skips text that would fill it', () => {
    const made: string[] = [];
    const remember = memoizeByText((text) => made.push(text), 40);
    const often = 'a'.repeat(10);
    for (let nth = 0; nth < 100; nth += 1) {
      remember(often);
      remember(String(nth).padStart(10, '-'));
    }
    expect(made.filter((text) => text === often)).toHaveLength(1);
    remember('---------0');
    expect(made.filter((text) => text === '---------0')).toHaveLength(2);
    const long = 'l'.repeat(11);
    expect(remember(long)).not.toBe(remember(long));
  });
});
