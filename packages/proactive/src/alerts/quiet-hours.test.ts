import { describe, expect, it } from 'vitest';
import { zoneClock } from '../clock/zone-clock.ts';
import { quietUntil, readQuietHours } from './quiet-hours.ts';

const clock = zoneClock('Europe/Vienna');

describe('quiet hours', () => {
  it.each([
    ['22:00-07:00', '2026-11-21T20:59Z', null],
    ['22:00-07:00', '2026-11-21T21:00Z', '2026-11-22T06:00Z'],
    ['22:00-07:00', '2026-11-22T05:59Z', '2026-11-22T06:00Z'],
    ['22:00-07:00', '2026-11-22T06:00Z', null],
    ['12:00-14:00', '2026-11-22T11:30Z', '2026-11-22T13:00Z'],
    // The night in which the clock is put forward is an hour shorter, and the other one longer.
    ['22:00-07:00', '2026-03-28T22:00Z', '2026-03-29T05:00Z'],
    ['22:00-07:00', '2026-10-24T22:00Z', '2026-10-25T06:00Z'],
    ['02:00-03:00', '2026-03-29T01:10Z', '2026-03-29T02:00Z'],
    ['off', '2026-11-21T23:00Z', null],
  ])('[H04] %s at %s: an alert waits until %s', (hours, now, until) => {
    const found = quietUntil(readQuietHours(hours), { clock, now: Date.parse(now) });
    expect(found).toBe(until === null ? null : Date.parse(until));
  });
});
