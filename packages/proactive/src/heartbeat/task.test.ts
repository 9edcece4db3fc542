import { describe, expect, it } from 'vitest';
import { readCadence, readTime, readWindow } from './task.ts';

describe('how often a task is due', () => {
  it.each([
    ['30 min', { cadence: { kind: 'minutes', minutes: 30 } }],
    ['30min', { cadence: { kind: 'minutes', minutes: 30 } }],
    ['45 minutes', { cadence: { kind: 'minutes', minutes: 45 } }],
    ['2 h', { cadence: { kind: 'minutes', minutes: 120 } }],
    ['1.5 hours', { cadence: { kind: 'minutes', minutes: 90 } }],
    ['1 h 30 min', { cadence: { kind: 'minutes', minutes: 90 } }],
    ['hour', { cadence: { kind: 'minutes', minutes: 60 } }],
    ['Hourly', { cadence: { kind: 'minutes', minutes: 60 } }],
    ['1 day', { cadence: { kind: 'days', days: 1 } }],
    ['24 h', { cadence: { kind: 'days', days: 1 } }],
    ['daily', { cadence: { kind: 'days', days: 1 } }],
    ['2 weeks', { cadence: { kind: 'days', days: 14 } }],
    ['daily at 3:00', { cadence: { kind: 'days', days: 1 }, at: 180 }],
    ['day at 9 pm', { cadence: { kind: 'days', days: 1 }, at: 1260 }],
    ['weekly at 0:00', { cadence: { kind: 'days', days: 7 }, at: 0 }],
  ])('[H02] reads %j', (written, cadence) => {
    expect(readCadence(written)).toEqual(cadence);
  });

  it.each(['', 'often', '30', '0 min', '-5 min', '1 month', 'daily at 25:00', '2 h at 3:00'])(
    '[H02] does not read %j',
    (written) => expect(readCadence(written)).toBeNull(),
  );

  it.each(['daily at 24:00', '9000 days', '1e3 min', '5 m m m x', 'm', '1,5 h'])(
    '[H02] does not guess at %j',
    (written) => expect(readCadence(written)).toBeNull(),
  );
});

describe('the hours of a task', () => {
  it.each([
    ['9:00-21:00', { from: 540, to: 1260 }],
    ['09:00 – 21:00', { from: 540, to: 1260 }],
    ['9-21', { from: 540, to: 1260 }],
    ['9:00 to 21:30', { from: 540, to: 1290 }],
    ['from 9 am until 5 pm', { from: 540, to: 1020 }],
    ['22:00-2:00', { from: 1320, to: 120 }],
    ['22:00-0:00', { from: 1320, to: 1440 }],
    ['22:00-24:00', { from: 1320, to: 1440 }],
    ['00:00-24:00', { from: 0, to: 1440 }],
    ['24:00-00:00', { from: 0, to: 1440 }],
  ])('[H02] are read from %j', (written, window) => {
    expect(readWindow(written)).toEqual(window);
  });

  it.each(['', 'always', '9:00', '9:00-9:00', '9-25', '9:60-10:00', '9-12-15', '0:00-0:00'])(
    '[H02] are not read from %j',
    (written) => expect(readWindow(written)).toBeNull(),
  );

  it.each([
    ['12 am', 0],
    ['12 pm', 720],
    ['24:00', 1440],
    ['24:01', null],
    ['13 pm', null],
    ['0 am', null],
  ])('[H02] know the time %j', (written, minutes) => {
    expect(readTime(written)).toBe(minutes);
  });
});
