import { describe, expect, it } from 'vitest';
import { listCalendarDays } from './usage-tally.ts';

const HOUR_MS = 60 * 60_000;
const dateIn = (timeZone: string, moment: number): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone }).format(moment);
const at = (text: string): number => Date.parse(text);

describe('calendar days', () => {
  it('[U07] last from midnight to midnight in their time zone, oldest first, without gaps', () => {
    const days = listCalendarDays({ lastDay: '2026-03-02', days: 3, timeZone: 'Asia/Kolkata' });
    expect(days.map(({ day }) => day)).toEqual(['2026-02-28', '2026-03-01', '2026-03-02']);
    expect(days[0]?.from).toBe(at('2026-02-27T18:30:00Z'));
    for (const [nth, { to }] of days.slice(0, -1).entries()) expect(to).toBe(days[nth + 1]?.from);
  });

  it.each([
    ['Europe/Berlin', '2026-03-29', 23],
    ['Europe/Berlin', '2026-10-25', 25],
    ['Europe/Berlin', '2026-11-23', 24],
    // In these places, clocks change at midnight, so 0:00 is skipped or occurs twice.
    ['Asia/Beirut', '2026-03-29', 23],
    ['America/Havana', '2026-11-01', 25],
    ['America/Sao_Paulo', '2017-10-15', 23],
    ['Australia/Lord_Howe', '2026-04-05', 24.5],
  ])(
    '[U07] computes the length of days from the local clocks: %s, %s',
    (timeZone, lastDay, hours) => {
      const [day] = listCalendarDays({ lastDay, days: 1, timeZone });
      expect(((day?.to ?? 0) - (day?.from ?? 0)) / HOUR_MS).toBe(hours);
      expect(dateIn(timeZone, day?.from ?? 0)).toBe(lastDay);
      expect(dateIn(timeZone, (day?.from ?? 0) - 1)).not.toBe(lastDay);
      expect(dateIn(timeZone, (day?.to ?? 0) - 1)).toBe(lastDay);
    },
  );

  it('reject a time zone or a day that does not exist', () => {
    const nowhere = { lastDay: '2026-11-21', days: 1, timeZone: 'Europe/Atlantis' };
    expect(() => listCalendarDays(nowhere)).toThrow(RangeError);
    expect(() => listCalendarDays({ lastDay: '2026-13-41', days: 1, timeZone: 'UTC' })).toThrow(
      RangeError,
    );
  });
});
