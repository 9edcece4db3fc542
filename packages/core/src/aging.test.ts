import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AgeEvidence, decideAging, resolveRecordedTime } from './aging.ts';

const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;
const NOW = 1_000 * DAY;
const YEAR = 365 * DAY;

/** The normal evidence: ten minutes after the last retention run of a gateway in use. */
const USUAL: AgeEvidence = {
  now: NOW,
  database: NOW,
  newest: NOW - HOUR,
  last: { at: NOW - HOUR / 6, countedTo: NOW - HOUR / 6 },
  measuredMs: HOUR / 6,
};

describe('the time from which ages are counted', () => {
  it.each<[string, Partial<AgeEvidence>, number, ReturnType<typeof decideAging>['heldBy']]>([
    ['all agree', {}, 0, null],
    ['the clock of this process is a year ahead', { now: NOW + YEAR }, YEAR, 'database-clock'],
    [
      'the clock of the database is a year behind',
      { database: NOW - YEAR },
      YEAR,
      'database-clock',
    ],
    ['only the clock of the database is ahead', { database: NOW + YEAR }, 0, null],
    [
      'both clocks are a year ahead, and so are the timestamps written since',
      { now: NOW + YEAR, database: NOW + YEAR, newest: NOW + YEAR },
      YEAR - HOUR / 6,
      'last-removal',
    ],
    [
      'a process started under a clock that is a year ahead',
      { now: NOW + YEAR, database: NOW + YEAR, newest: NOW + YEAR, measuredMs: null },
      YEAR - 2 * DAY + HOUR / 6,
      'last-removal',
    ],
    ['no one has written for a night', { newest: NOW - DAY / 2 }, 0, null],
    ['nothing was written for a week', { newest: NOW - 7 * DAY }, 6 * DAY, 'newest'],
    ['nothing was ever written', { newest: null }, NOW, 'newest'],
    ['nothing was ever removed', { last: null, measuredMs: null }, NOW, 'last-removal'],
    [
      'the machine was off for a night',
      { last: { at: NOW - DAY / 2, countedTo: NOW - DAY / 2 }, measuredMs: null },
      0,
      null,
    ],
    [
      'the machine was off for ten days',
      { last: { at: NOW - 10 * DAY, countedTo: NOW - 10 * DAY }, measuredMs: null },
      8 * DAY,
      'last-removal',
    ],
    [
      'the machine slept for ten days, which its process did not measure',
      { last: { at: NOW - 10 * DAY, countedTo: NOW - 10 * DAY }, measuredMs: HOUR },
      10 * DAY - 2 * HOUR,
      'last-removal',
    ],
    [
      'the last round ran under a clock that was ahead',
      { last: { at: NOW + YEAR, countedTo: NOW - HOUR }, measuredMs: null },
      HOUR,
      'last-removal',
    ],
    ['the clock of this process is behind', { now: NOW - DAY }, 0, null],
  ])(
    '[D15] follows the clocks only as far as they agree: %s',
    (_case, differing, heldMs, heldBy) => {
      const witnesses = { ...USUAL, ...differing };
      expect(decideAging(witnesses)).toEqual({ countFrom: witnesses.now - heldMs, heldMs, heldBy });
    },
  );

  it('[D15] advances by at most two days a day with any clocks, and never goes ahead of any clock', () => {
    const moment = fc.integer({ min: 0, max: 4_000 * DAY });
    fc.assert(
      fc.property(
        fc.record({
          now: moment,
          database: moment,
          newest: fc.option(moment),
          last: fc.option(fc.record({ at: moment, countedTo: moment })),
          measuredMs: fc.option(fc.integer({ min: 0, max: 30 * DAY })),
        }),
        (witnesses) => {
          const { countFrom, heldMs } = decideAging(witnesses);
          expect(countFrom).toBeLessThanOrEqual(Math.min(witnesses.now, witnesses.database));
          expect(countFrom).toBe(witnesses.now - heldMs);
          if (witnesses.last === null) expect(countFrom).toBe(0);
          else expect(countFrom).toBeLessThanOrEqual(witnesses.last.countedTo + 2 * DAY);
        },
      ),
    );
  });

  it('[D15] is at most two days off after a day with a wrong clock, and is not delayed later', () => {
    let last = USUAL.last;
    const round = (now: number, hours: number, newest = now) => {
      const witnesses = { ...USUAL, now, database: now, newest, last, measuredMs: hours * HOUR };
      const { countFrom } = decideAging(witnesses);
      last = { at: now, countedTo: resolveRecordedTime(witnesses) };
      return countFrom - NOW;
    };
    for (let hour = 1; hour <= 24; hour += 1) round(NOW + YEAR + hour * HOUR, 1);
    expect(last?.countedTo).toBeLessThanOrEqual(NOW + 2 * DAY);
    for (let hour = 25; hour <= 48; hour += 1) round(NOW + hour * HOUR - YEAR, 1);
    expect(round(NOW + 2 * DAY, 1)).toBe(2 * DAY);
  });
});
