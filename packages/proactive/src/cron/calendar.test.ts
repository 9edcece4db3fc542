import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SOME_ZONES } from '../testing/some-zones.ts';
import { createZoneClock, findWindowAfter, findWindowAt } from '../zone-clock.ts';
import { findNextTime, listNextTimes, parseTimetableInput } from './timetable.ts';

const DAY_MS = 86_400_000;
const at = (iso: string) => Date.parse(iso);

/** Returns the next local times of a job that was requested at the given moment. */
function localTimes(every: string, timeZone: string, asked: string, count: number): string[] {
  const rules = { timeZone, now: at(asked), leastMs: 300_000 };
  const read = parseTimetableInput({ every }, rules);
  if (typeof read === 'string') throw new Error(read);
  const clock = createZoneClock(timeZone);
  return listNextTimes(read.timetable, rules.now, count).map((moment) =>
    new Date(clock.wallAt(moment)).toISOString().slice(0, 16).replace('T', ' '),
  );
}

describe('a job scheduled in whole days, weeks or months', () => {
  it.each([
    [
      '2 days at 9:00',
      'Europe/Berlin',
      '2026-03-26T12:00:00Z',
      ['2026-03-27 09:00', '2026-03-29 09:00', '2026-03-31 09:00'],
    ],
    [
      '2 days at 9:00',
      'America/New_York',
      '2026-10-30T16:00:00Z',
      ['2026-10-31 09:00', '2026-11-02 09:00', '2026-11-04 09:00'],
    ],
    [
      'every other day',
      'Europe/Berlin',
      '2026-10-23T07:30:00Z',
      ['2026-10-25 09:30', '2026-10-27 09:30'],
    ],
    [
      '2 weeks at 7:15',
      'America/Santiago',
      '2026-08-31T20:00:00Z',
      ['2026-09-01 07:15', '2026-09-15 07:15', '2026-09-29 07:15'],
    ],
    [
      'month at 9:00',
      'Europe/Berlin',
      '2026-01-31T20:00:00Z',
      ['2026-02-28 09:00', '2026-03-31 09:00', '2026-04-30 09:00', '2026-05-31 09:00'],
    ],
    ['monthly', 'Asia/Kathmandu', '2026-11-21T03:20:00Z', ['2026-12-21 09:05', '2027-01-21 09:05']],
    ['3 months at 18:00', 'UTC', '2026-11-21T03:20:00Z', ['2026-11-21 18:00', '2027-02-21 18:00']],
    ['yearly', 'UTC', '2028-02-29T10:00:00Z', ['2029-02-28 10:00', '2030-02-28 10:00']],
    // One time is skipped by the clock, and the other occurs twice.
    [
      '3 days at 2:30',
      'Europe/Berlin',
      '2026-03-25T12:00:00Z',
      ['2026-03-26 02:30', '2026-03-29 03:00', '2026-04-01 02:30'],
    ],
    [
      '3 days at 2:30',
      'Europe/Berlin',
      '2026-10-21T12:00:00Z',
      ['2026-10-22 02:30', '2026-10-25 02:30', '2026-10-28 02:30'],
    ],
    [
      '2 days at 2:15',
      'Australia/Lord_Howe',
      '2026-10-01T12:00:00Z',
      ['2026-10-02 02:15', '2026-10-04 02:30', '2026-10-06 02:15'],
    ],
    // Apia had no 30 December 2011, so the run moves to the next day.
    [
      'daily at 9:00',
      'Pacific/Apia',
      '2011-12-28T20:00:00Z',
      ['2011-12-29 09:00', '2011-12-31 09:00', '2012-01-01 09:00'],
    ],
    [
      '2 days at 9:00',
      'Pacific/Apia',
      '2011-12-27T20:00:00Z',
      ['2011-12-28 09:00', '2011-12-31 09:00', '2012-01-01 09:00'],
    ],
  ])('[H08] "%s" in %s, requested at %s, keeps its local time', (every, zone, asked, expected) => {
    expect(localTimes(every, zone, asked, expected.length)).toEqual(expected);
  });

  it.each([
    ['24 hours', ['2026-03-29 10:30', '2026-03-30 10:30']],
    ['48 h', ['2026-03-30 10:30', '2026-04-01 10:30']],
    ['1 day 12 hours', ['2026-03-29 22:30', '2026-03-31 10:30']],
    ['1.5 days', ['2026-03-29 22:30', '2026-03-31 10:30']],
    // An interval with a time of day means calendar days.
    ['24 hours at 9:00', ['2026-03-29 09:00', '2026-03-30 09:00']],
  ])('[H08] "%s" counts elapsed hours across clock changes', (every, expected) => {
    expect(localTimes(every, 'Europe/Berlin', '2026-03-28T08:30:00Z', 2)).toEqual(expected);
  });

  it.each([['2011-12-28T20:00:00Z'], ['2011-12-30T10:30:00Z']])(
    '[H08] with a cron expression runs on the day after a skipped date, computed from %s',
    (from) => {
      const expression = '0 9 * * fri';
      const timetable = { kind: 'cron', expression, timeZone: 'Pacific/Apia' } as const;
      const times = listNextTimes(timetable, at(from), 2).map((time) =>
        new Date(time).toISOString(),
      );
      expect(times).toEqual(['2011-12-30T19:00:00.000Z', '2012-01-05T19:00:00.000Z']);
    },
  );

  it('[H08] follows the calendar even if it runs only once, after a number of days or months', () => {
    const rules = { timeZone: 'Europe/Berlin', now: at('2026-03-28T08:30:00Z'), leastMs: 0 };
    const read = (written: string) => parseTimetableInput({ at: written }, rules);
    expect(read('in 2 days')).toMatchObject({ nextAt: at('2026-03-30T07:30:00Z') });
    expect(read('in 48 hours')).toMatchObject({ nextAt: at('2026-03-30T08:30:00Z') });
    expect(read('in a month')).toMatchObject({ nextAt: at('2026-04-28T07:30:00Z') });
    expect(read('in 1 week at 18:00')).toMatchObject({ nextAt: at('2026-04-04T16:00:00Z') });
  });

  it('[H08] runs once on each of its dates, at its local time, in every zone and year', () => {
    const zones = fc.constantFrom(...SOME_ZONES, 'Asia/Kathmandu', 'Europe/Berlin');
    const start = fc.integer({ min: at('1995-01-01'), max: at('2045-01-01') });
    const minutes = fc.integer({ min: 0, max: 24 * 60 - 1 });
    const count = fc.integer({ min: 1, max: 9 });
    fc.assert(
      fc.property(zones, start, minutes, count, (timeZone, now, minute, days) => {
        const time = `${Math.floor(minute / 60)}:${String(minute % 60).padStart(2, '0')}`;
        const read = parseTimetableInput(
          { every: `${days} days at ${time}` },
          { timeZone, now, leastMs: 0 },
        );
        if (typeof read === 'string') throw new Error(read);
        const clock = createZoneClock(timeZone);
        const moments = listNextTimes(read.timetable, now, 40);
        const first = Math.floor(clock.wallAt(moments[0] ?? 0) / DAY_MS);
        let planned = first;
        for (const [index, moment] of moments.entries()) {
          expect(moment).toBeGreaterThan(moments[index - 1] ?? now);
          const wall = clock.wallAt(moment);
          const wanted = planned * DAY_MS + minute * 60_000;
          const shown = clock.momentsOf(wanted);
          // If the time occurs twice, the first occurrence is used; if it is skipped, the moment of
          // the clock change is used.
          expect(shown[0] ?? moment).toBe(moment);
          if (shown.length === 0) expect(wall).toBeGreaterThan(wanted);
          planned += days;
          // The run of a skipped date may coincide with the run of the next date.
          while (clock.plannedMomentOf(planned * DAY_MS + minute * 60_000) <= moment)
            planned += days;
        }
        // The times do not depend on the moment from which they are computed.
        const [, , from = 0, next = 0] = moments;
        const between = from + Math.floor((next - from) / 3);
        expect(findNextTime(read.timetable, between)).toBe(next);
      }),
      toRunOptions(150),
    );
  });
});

describe('the hours of a standing task', () => {
  it('[H02] occur once for a date that the zone skips', () => {
    const clock = createZoneClock('Pacific/Apia');
    const window = { from: 9 * 60, to: 10 * 60 };
    const before = at('2011-12-29T20:30:00Z');
    const next = findWindowAfter(clock, window, before);
    expect(new Date(next.start).toISOString()).toBe('2011-12-30T19:00:00.000Z');
    expect(findWindowAt(clock, window, at('2011-12-30T10:30:00Z'))).toBeNull();
    expect(findWindowAfter(clock, window, next.start).start - next.start).toBe(DAY_MS);
  });
});
