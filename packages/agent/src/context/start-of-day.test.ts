import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { localTimeIn } from '../local-time.ts';
import { startOfDay } from './yesterday-source.ts';

describe('the beginning of a day', () => {
  it.each([
    ['Europe/Berlin', '2026-11-21T13:05:00Z', '2026-11-20T23:00:00.000Z'],
    ['Europe/Berlin', '2026-10-25T22:59:59Z', '2026-10-24T22:00:00.000Z'],
    ['Europe/Berlin', '2026-03-29T21:59:59Z', '2026-03-28T23:00:00.000Z'],
    ['Asia/Kathmandu', '2026-11-21T18:15:00Z', '2026-11-21T18:15:00.000Z'],
    // There the clock skips midnight: the day begins at one.
    ['Africa/Cairo', '2026-04-24T12:00:00Z', '2026-04-23T22:00:00.000Z'],
    ['Pacific/Auckland', '2026-11-21T13:05:00Z', '2026-11-21T11:00:00.000Z'],
  ])('[G11] in %s before %s is %s', (zone, now, start) => {
    const found = startOfDay(localTimeIn(zone), Date.parse(now));
    expect(new Date(found).toISOString()).toBe(start);
  });

  it('[G11] is of that day, and the moment before is of another', () => {
    const zones = ['Europe/Berlin', 'America/Havana', 'Asia/Shanghai', 'Australia/Lord_Howe'];
    const moments = fc.date({
      min: new Date('2020-01-01'),
      max: new Date('2030-01-01'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(fc.constantFrom(...zones), moments, (zone, moment) => {
        const localTime = localTimeIn(zone);
        const start = startOfDay(localTime, moment.getTime());
        expect(localTime(start).date).toBe(localTime(moment.getTime()).date);
        expect(localTime(start - 1).date < localTime(start).date).toBe(true);
      }),
    );
  });
});
