import { describe, expect, it } from 'vitest';
import { wallDayAndMinute } from '../clock/wall-words.ts';
import { delayAfter } from './after-run.ts';
import { readTimetable, type WrittenTimetable } from './read-timetable.ts';

/** Saturday, 10:05 in Vienna. */
const NOW = Date.parse('2026-11-21T09:05:00Z');
const RULES = { timeZone: 'Europe/Vienna', now: NOW, leastMs: 300_000 };

const first = (written: WrittenTimetable) => {
  const read = readTimetable(written, RULES);
  return read.kind === 'problem' ? read.message : wallDayAndMinute(read.nextAt, 'Europe/Vienna');
};

describe('when a job is to run', () => {
  it.each<[WrittenTimetable, string]>([
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
    // The clock skips it: when it goes on.
    [{ at: '2027-03-28 02:30' }, 'Sunday 2027-03-28 03:00'],
    [{ every: '30 min' }, 'Saturday 2026-11-21 10:35'],
    [{ every: 'every 2 hours' }, 'Saturday 2026-11-21 12:05'],
    [{ every: 'daily at 8:00' }, 'Sunday 2026-11-22 08:00'],
    [{ every: 'day' }, 'Sunday 2026-11-22 10:05'],
    [{ every: 'week' }, 'Saturday 2026-11-28 10:05'],
    [{ every: '2 days at 9:00' }, 'Sunday 2026-11-22 09:00'],
    [{ cron: '0 9 * * mon-fri' }, 'Monday 2026-11-23 09:00'],
    [{ cron: ' 0  9 * * * ', timeZone: 'Asia/Tokyo' }, 'Sunday 2026-11-22 01:00'],
  ])('[H08] %j is understood', (written, expected) => {
    expect(first(written)).toBe(expected);
  });

  it.each<[WrittenTimetable, string]>([
    [{}, 'Give exactly one of'],
    [{ at: '18:00', every: '2 h' }, 'Give exactly one of'],
    [{ at: 'soon' }, '"soon" is no time. Expected a date and time such as'],
    [{ at: '2026-02-30 09:00' }, 'is no time'],
    [{ at: '2026-11-21 09:00' }, 'is over: it is Saturday 2026-11-21 10:05 in Europe/Vienna now'],
    [{ at: '18:00', timeZone: 'Vienna' }, '"Vienna" is no time zone'],
    [{ every: 'now and then' }, 'is no interval. Expected such as 30 min'],
    [{ every: '1 min' }, 'every 5 minutes at most'],
    [{ cron: '* * * * *' }, 'every 5 minutes at most'],
    [{ cron: '0,1 12 * * *' }, 'every 5 minutes at most'],
    [{ cron: '0 9 * *' }, 'it has 4 fields'],
    [{ cron: '0 9 31 4 *' }, 'day of month'],
  ])('[H08] %j is explained', (written, expected) => {
    expect(first(written)).toContain(expected);
  });

  it('[H08] stays at its hour when the clocks change, where it is counted in days', () => {
    const read = readTimetable(
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
  ])('[H08] after %d failures in a row the next try waits %d min', (failures, minutes) => {
    expect(delayAfter(failures)).toBe(minutes * 60_000);
  });
});
