import { describe, expect, it } from 'vitest';
import { measureClockSkew } from './probe.ts';

const AT = Date.parse('2026-11-23T12:00:00Z');
const DATE = 'Mon, 23 Nov 2026 12:00:00 GMT';

describe('comparing the clock with a server', () => {
  it.each([
    ['the same second', { asked: AT + 100, answered: AT + 200 }, 0],
    ['a slow answer proves nothing', { asked: AT - 4_000, answered: AT + 4_000 }, 0],
    ['ahead', { asked: AT + 60_000, answered: AT + 60_000 }, 59_000],
    ['behind', { asked: AT - 60_000, answered: AT - 60_000 }, -60_000],
  ])('[U02] %s', (_what, times, aheadMs) => {
    expect(measureClockSkew('h', DATE, times)).toEqual({ server: 'h', aheadMs });
  });

  it.each([null, undefined, '', 'yesterday'])('[U02] is unknown for the header %j', (date) => {
    expect(measureClockSkew('h', date, { asked: AT, answered: AT })).toBeNull();
  });
});
