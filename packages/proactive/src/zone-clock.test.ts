import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SOME_ZONES } from './testing/some-zones.ts';
import { createZoneClock } from './zone-clock.ts';

const at = (iso: string) => Date.parse(iso);

describe('the clock of a time zone', () => {
  it.each([
    ['Europe/Vienna', '2026-07-01T12:00:00Z', '2026-07-01T14:00:00Z'],
    ['Asia/Kolkata', '2026-07-01T12:00:00Z', '2026-07-01T17:30:00Z'],
    ['America/Havana', '2026-03-08T05:00:00Z', '2026-03-08T01:00:00Z'],
    ['Pacific/Apia', '2011-12-30T10:00:00Z', '2011-12-31T00:00:00Z'],
    ['UTC', '1970-01-01T00:00:00Z', '1970-01-01T00:00:00Z'],
  ])('[H02] in %s shows the local time at %s', (zone, moment, wall) => {
    expect(createZoneClock(zone).wallAt(at(moment))).toBe(at(wall));
  });

  it.each([
    ['skips', 'Europe/Vienna', '2026-03-29T02:30:00Z', [], '2026-03-29T01:00:00Z'],
    [
      'doubles',
      'Europe/Vienna',
      '2026-10-25T02:30:00Z',
      ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'],
      '2026-10-25T00:30:00Z',
    ],
    ['skips midnight', 'America/Havana', '2026-03-08T00:00:00Z', [], '2026-03-08T05:00:00Z'],
    [
      'skips half an hour',
      'Australia/Lord_Howe',
      '2026-10-04T02:15:00Z',
      [],
      '2026-10-03T15:30:00Z',
    ],
    ['skips a day', 'Pacific/Apia', '2011-12-30T12:00:00Z', [], '2011-12-30T10:00:00Z'],
  ])('[H02] the clock %s in %s around %s', (_what, zone, wall, moments, first) => {
    const clock = createZoneClock(zone);
    expect(clock.momentsOf(at(wall))).toEqual(moments.map(at));
    expect(clock.firstMomentOf(at(wall))).toBe(at(first));
  });

  it('[H02] converts the local time of any moment back to that moment', () => {
    const moment = fc.integer({ min: at('2000-01-01'), max: at('2060-01-01') });
    fc.assert(
      fc.property(fc.constantFrom(...SOME_ZONES), moment, (zone, now) => {
        const clock = createZoneClock(zone);
        const wall = clock.wallAt(now);
        expect(clock.momentsOf(wall)).toContain(now);
        expect(clock.firstMomentOf(wall)).toBeLessThanOrEqual(now);
      }),
    );
  });

  it('[H02] refuses an unknown zone', () => {
    expect(() => createZoneClock('Nowhere/Town')).toThrow(RangeError);
  });
});
