import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeNextEveryRun, type EveryRunInputs } from './schedulers.ts';

const facts = (change: Partial<EveryRunInputs>): EveryRunInputs => ({
  previous: undefined,
  every: 100,
  now: 1_030,
  offset: 0,
  startDate: undefined,
  ...change,
});

describe('the next run of an "every" scheduler', () => {
  it.each([
    ['is immediate at first and stores the offset', {}, { nextRun: 1_030, offset: 30 }],
    ['is in the next slot if the offset is known', { offset: 20 }, { nextRun: 1_120, offset: 20 }],
    [
      'is in the current slot if it is still to come',
      { offset: 40 },
      { nextRun: 1_040, offset: 40 },
    ],
    [
      'is the start date if that is in the future',
      { startDate: 5_000 },
      { nextRun: 5_000, offset: 0 },
    ],
    ['can be a stored start date', { startDate: '5010' }, { nextRun: 5_010, offset: 10 }],
    [
      'is immediate if the start date has passed',
      { startDate: new Date(5) },
      { nextRun: 1_030, offset: 30 },
    ],
    [
      'is one interval after the previous run',
      { previous: 1_000, offset: 0 },
      { nextRun: 1_100, offset: 0 },
    ],
    ['skips missed runs', { previous: 400, offset: 20 }, { nextRun: 1_120, offset: 20 }],
  ] as const)('%s', (_title, change, expected) => {
    expect(computeNextEveryRun(facts(change))).toEqual(expected);
  });

  it('never plans an "every" run in the past, and keeps its slots after any time without workers', () => {
    const whole = fc.integer({ min: 1, max: 10_000_000 });
    fc.assert(
      fc.property(whole, whole, fc.integer({ min: 1, max: 100_000 }), (start, away, every) => {
        const first = computeNextEveryRun(facts({ every, now: start }));
        const now = first.nextRun + away;
        const next = computeNextEveryRun(
          facts({ every, now, previous: first.nextRun, offset: first.offset }),
        );
        expect(next.nextRun).toBeGreaterThanOrEqual(now);
        expect(next.nextRun - now).toBeLessThanOrEqual(every);
        expect((next.nextRun - first.nextRun) % every).toBe(0);
      }),
    );
  });
});
