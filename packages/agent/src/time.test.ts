import { describe, expect, it } from 'vitest';
import { createLocalTime } from './time.ts';

describe('the local time of the agent', () => {
  it.each([
    ['UTC', '2026-01-01', '00:30'],
    ['America/New_York', '2025-12-31', '19:30'],
    ['Asia/Kolkata', '2026-01-01', '06:00'],
  ])('[F02] in %s, half past midnight UTC is %s %s', (zone, date, time) => {
    expect(createLocalTime(zone)(Date.UTC(2026, 0, 1, 0, 30))).toEqual({ date, time });
  });

  it('[F02] follows daylight saving', () => {
    const berlin = createLocalTime('Europe/Berlin');
    expect(berlin(Date.UTC(2026, 2, 29, 0, 59)).time).toBe('01:59');
    expect(berlin(Date.UTC(2026, 2, 29, 1, 0)).time).toBe('03:00');
  });
});
