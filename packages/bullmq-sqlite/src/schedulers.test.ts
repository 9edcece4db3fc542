import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EveryFacts, nextEveryRun } from './schedulers.ts';

const facts = (change: Partial<EveryFacts>): EveryFacts => ({
  previous: undefined,
  every: 100,
  now: 1_030,
  offset: 0,
  startDate: undefined,
  ...change,
});

describe('the next run of an "every" scheduler', () => {
  it.each([
    ['runs first at once, and remembers the shift', {}, { nextRun: 1_030, offset: 30 }],
    ['starts in a slot when the shift is known', { offset: 20 }, { nextRun: 1_120, offset: 20 }],
    ['starts in this slot if it is yet to come', { offset: 40 }, { nextRun: 1_040, offset: 40 }],
    ['waits for its start date', { startDate: 5_000 }, { nextRun: 5_000, offset: 0 }],
    ['reads a stored start date', { startDate: '5010' }, { nextRun: 5_010, offset: 10 }],
    [
      'starts now if its date has passed',
      { startDate: new Date(5) },
      { nextRun: 1_030, offset: 30 },
    ],
    ['goes on one step', { previous: 1_000, offset: 0 }, { nextRun: 1_100, offset: 0 }],
    ['skips runs that were missed', { previous: 400, offset: 20 }, { nextRun: 1_120, offset: 20 }],
  ] as const)('%s', (_title, change, expected) => {
    expect(nextEveryRun(facts(change))).toEqual(expected);
  });

  it('is never in the past, and stays in its slots however long nobody worked', () => {
    const whole = fc.integer({ min: 1, max: 10_000_000 });
    fc.assert(
      fc.property(whole, whole, fc.integer({ min: 1, max: 100_000 }), (start, away, every) => {
        const first = nextEveryRun(facts({ every, now: start }));
        const now = first.nextRun + away;
        const next = nextEveryRun(
          facts({ every, now, previous: first.nextRun, offset: first.offset }),
        );
        expect(next.nextRun).toBeGreaterThanOrEqual(now);
        expect(next.nextRun - now).toBeLessThanOrEqual(every);
        expect((next.nextRun - first.nextRun) % every).toBe(0);
      }),
    );
  });
});
