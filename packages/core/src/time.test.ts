import { afterEach, expect, it, vi } from 'vitest';
import { createMovableTime } from './testing/movable-time.ts';
import { systemTime } from './time.ts';

afterEach(() => {
  vi.useRealTimers();
});

it("[D13] measures a duration correctly when the machine's clock is set back", () => {
  const [at, since] = [systemTime.clock(), systemTime.monotonic()];
  vi.useFakeTimers({ now: at - 3_600_000, toFake: ['Date'] });
  expect(systemTime.clock()).toBeLessThan(at);
  expect(systemTime.monotonic()).toBeGreaterThanOrEqual(since);
});

it('lets a test set the clock without advancing time, and advance both clocks', () => {
  const { clock, monotonic, stepClock, pass } = createMovableTime(10_000);
  const since = monotonic();
  stepClock(-5_000);
  expect([clock(), monotonic() - since]).toEqual([5_000, 0]);
  expect(pass(300)).toBe(5_300);
  expect([clock(), monotonic() - since]).toEqual([5_300, 300]);
});
