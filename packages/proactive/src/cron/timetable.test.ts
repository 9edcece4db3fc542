import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SOME_ZONES } from '../testing/some-zones.ts';
import { createZoneClock, formatWallDayAndMinute } from '../zone-clock.ts';
import { readCronExpression } from './cron-expression.ts';
import { computeFailureDelay } from './run-jobs.ts';
import { findNextTime, parseTimetableInput, type TimetableInput } from './timetable.ts';

/** Saturday, 10:05 in Vienna. */
const NOW = Date.parse('2026-11-21T09:05:00Z');
const RULES = { timeZone: 'Europe/Vienna', now: NOW, leastMs: 300_000 };

const first = (written: TimetableInput) => {
  const read = parseTimetableInput(written, RULES);
  return typeof read === 'string' ? read : formatWallDayAndMinute(read.nextAt, 'Europe/Vienna');
};

describe('a written timetable', () => {
  it.each<[TimetableInput, string]>([
    [{ at: '2026-11-22 09:00' }, 'Sunday 2026-11-22 09:00'],
    [{ at: '2026-11-22T09:00:30' }, 'Sunday 2026-11-22 09:00'],
    [{ at: '2026-11-22T09:00:00Z' }, 'Sunday 2026-11-22 10:00'],
    [{ at: '2026-11-22T09:00+05:30' }, 'Sunday 2026-11-22 04:30'],
    [{ at: '2026-11-22 09:00', timeZone: 'America/New_York' }, 'Sunday 2026-11-22 15:00'],
    [{ at: '18:30' }, 'Saturday 2026-11-21 18:30'],
    [{ at: '9 am' }, 'Sunday 2026-11-22 09:00'],
    [{ at: 'tomorrow 9:00' }, 'Sunday 2026-11-22 09:00'],
    [{ at: 'Tomorrow at 21:15' }, 'Sunday 2026-11-22 21:15'],
    [{ at: 'in 20 min' }, 'Saturday 2026-11-21 10:25'],
    [{ at: 'in 90 s' }, 'Saturday 2026-11-21 10:06'],
    [{ at: 'in 1 h 30 min' }, 'Saturday 2026-11-21 11:35'],
    [{ at: 'in an hour' }, 'Saturday 2026-11-21 11:05'],
    // The clock skips this time, so the moment of the clock change is used.
    [{ at: '2027-03-28 02:30' }, 'Sunday 2027-03-28 03:00'],
    [{ every: '30 min' }, 'Saturday 2026-11-21 10:35'],
    [{ every: 'every 2 hours' }, 'Saturday 2026-11-21 12:05'],
    [{ every: 'daily at 8:00' }, 'Sunday 2026-11-22 08:00'],
    [{ every: 'day' }, 'Sunday 2026-11-22 10:05'],
    [{ every: 'week' }, 'Saturday 2026-11-28 10:05'],
    [{ every: '2 days at 9:00' }, 'Sunday 2026-11-22 09:00'],
    [{ every: 'Every 2 days at 9:00.' }, 'Sunday 2026-11-22 09:00'],
    [{ cron: '0 9 * * mon-fri' }, 'Monday 2026-11-23 09:00'],
    [{ cron: ' 0  9 * * * ', timeZone: 'Asia/Tokyo' }, 'Sunday 2026-11-22 01:00'],
  ])('[H08] %j is parsed', (written, expected) => {
    expect(first(written)).toBe(expected);
  });

  it.each<[TimetableInput, string]>([
    [{}, 'Give exactly one of'],
    [{ at: '18:00', every: '2 h' }, 'Give exactly one of'],
    [{ at: 'soon' }, '"soon" is not a time. Expected a date and time such as'],
    [{ at: '2026-02-30 09:00' }, 'is not a time'],
    [
      { at: '2026-11-21 09:00' },
      'has passed: it is Saturday 2026-11-21 10:05 in Europe/Vienna now',
    ],
    [{ at: '18:00', timeZone: 'Vienna' }, '"Vienna" is not a time zone'],
    [{ every: 'now and then' }, 'is not an interval. Expected one such as 30 min'],
    [{ every: '1 min' }, 'at most every 5 minutes'],
    [{ cron: '* * * * *' }, 'at most every 5 minutes'],
    [{ cron: '0,1 12 * * *' }, 'at most every 5 minutes'],
    [{ cron: '0 9 * *' }, 'it has 4 fields'],
    [{ cron: '0 9 31 4 *' }, 'day of month'],
  ])('[H08] %j is refused with an explanation', (written, expected) => {
    expect(first(written)).toContain(expected);
  });

  it('[H08] in days keeps its local time when the clocks change', () => {
    const read = parseTimetableInput(
      { every: 'day' },
      { ...RULES, now: Date.parse('2026-10-24T07:00:00Z') },
    );
    expect(read).toMatchObject({ timetable: { kind: 'cron', expression: '0 9 * * *' } });
  });

  it.each([
    [1, 1],
    [2, 5],
    [3, 15],
    [4, 60],
    [9, 60],
  ])(
    '[H08] after %d consecutive failures, the next attempt is %d min later',
    (failures, minutes) => {
      expect(computeFailureDelay(failures)).toBe(minutes * 60_000);
    },
  );
});

const at = (iso: string) => Date.parse(iso);

/** Returns the next few times that match an expression. */
function times(expression: string, timeZone: string, from: string, count: number): string[] {
  const found: string[] = [];
  let now: number | null = at(from);
  for (let index = 0; index < count && now !== null; index += 1) {
    now = findNextTime({ kind: 'cron', expression, timeZone }, now);
    found.push(now === null ? 'never' : new Date(now).toISOString().slice(5, 16));
  }
  return found;
}

describe('the next time of a job', () => {
  it('[H08] is reached only once for a one-off job', () => {
    expect(findNextTime({ kind: 'once', at: 5 }, 4)).toBe(5);
    expect(findNextTime({ kind: 'once', at: 5 }, 5)).toBeNull();
  });

  it.each([
    [0, 100],
    [100, 110],
    [109, 110],
    [110, 120],
    [1005, 1010],
  ])(
    '[H08] for an interval is the next multiple, without a burst of missed runs: after %d at %d',
    (after, next) => {
      expect(findNextTime({ kind: 'every', ms: 10, from: 100 }, after)).toBe(next);
    },
  );

  it.each([
    [
      '30 2 * * *',
      'Europe/Vienna',
      '2026-03-28T00:00Z',
      ['03-28T01:30', '03-29T01:00', '03-30T00:30'],
    ],
    ['*/20 2 * * *', 'Europe/Vienna', '2026-03-28T12:00Z', ['03-29T01:00', '03-30T00:00']],
    ['30 2 * * *', 'Europe/Vienna', '2026-10-24T12:00Z', ['10-25T00:30', '10-26T01:30']],
    [
      '30 * * * *',
      'Europe/Vienna',
      '2026-10-24T23:00Z',
      ['10-24T23:30', '10-25T00:30', '10-25T01:30', '10-25T02:30'],
    ],
    ['30 * * * *', 'Europe/Vienna', '2026-03-29T00:00Z', ['03-29T00:30', '03-29T01:30']],
    [
      '0 0 * * *',
      'America/Havana',
      '2026-03-07T00:00Z',
      ['03-07T05:00', '03-08T05:00', '03-09T04:00'],
    ],
    ['0 9 * * MON-FRI', 'America/New_York', '2026-10-30T00:00Z', ['10-30T13:00', '11-02T14:00']],
    [
      '0 12 1,15 jan-jun/2 *',
      'UTC',
      '2026-11-21T00:00Z',
      ['01-01T12:00', '01-15T12:00', '03-01T12:00'],
    ],
    ['0 0 * * 7', 'UTC', '2026-10-30T00:00Z', ['11-01T00:00', '11-08T00:00']],
    [
      '0 0 13 * 5',
      'UTC',
      '2026-11-01T00:00Z',
      [
        '11-06T00:00',
        '11-13T00:00',
        '11-20T00:00',
        '11-27T00:00',
        '12-04T00:00',
        '12-11T00:00',
        '12-13T00:00',
      ],
    ],
    ['0 0 29 2 *', 'UTC', '2026-11-01T00:00Z', ['02-29T00:00']],
    ['* * * * *', 'Asia/Kolkata', '2026-11-01T00:00:30Z', ['11-01T00:01', '11-01T00:02']],
    ['15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00Z', ['10-03T15:30', '10-04T15:15']],
  ])('[H08] for the expression %s in %s after %s', (expression, zone, from, expected) => {
    expect(times(expression, zone, from, expected.length)).toEqual(expected);
  });

  it.each([
    ['', 'it has 0 fields'],
    ['* * *', 'it has 3 fields'],
    ['1 2 3 4 5 6', 'it has 6 fields'],
    ['@daily', 'it has 1 fields'],
    ['61 * * * *', 'expected range 0-59'],
    ['H * * * *', '"H" is not understood'],
    ['0 0 L * *', '"L" is not understood'],
    ['0 0 * * sun#1', '"sun#1" is not understood'],
    ['0 9 * * monday', '"monday" is not understood'],
    ['0, * * * *', '"0," is not understood'],
    ['0 0 30 2 *', 'day of month'],
  ])('[H08] %j is refused with an explanation', (expression, why) => {
    expect(readCronExpression(expression)).toEqual(expect.stringContaining(why));
    expect(findNextTime({ kind: 'cron', expression, timeZone: 'UTC' }, 0)).toBeNull();
  });

  it('[H08] for a daily job is reached once a day, in every zone', () => {
    const minute = fc.integer({ min: 0, max: 59 });
    const hour = fc.integer({ min: 0, max: 23 });
    const from = fc.integer({ min: at('2020-01-01'), max: at('2030-01-01') });
    fc.assert(
      fc.property(fc.constantFrom(...SOME_ZONES), hour, minute, from, (timeZone, h, m, start) => {
        const clock = createZoneClock(timeZone);
        let now = start;
        let day: number | null = null;
        for (let count = 0; count < 6; count += 1) {
          const next = findNextTime({ kind: 'cron', expression: `${m} ${h} * * *`, timeZone }, now);
          if (next === null) throw new Error('never');
          expect(next).toBeGreaterThan(now);
          const today = Math.floor(clock.wallAt(next) / 86_400_000);
          if (day !== null) expect(today).toBe(day + 1);
          [day, now] = [today, next];
        }
      }),
      toRunOptions(60),
    );
  });
});
