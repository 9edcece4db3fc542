import type { Clock, Monotonic } from '../time.ts';

/** Time that a test moves: its wall clock and the time that passes are set apart. */
export interface MovableTime {
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  /** Lets time pass: both move on. Returns the new time of the wall clock. */
  pass(ms: number): number;
  /** Sets the wall clock forward or back (negative) while no time passes. */
  stepClock(ms: number): void;
}

/** @param startsAt first time of the wall clock; the monotonic time starts at another number on purpose. */
export function movableTime(startsAt = Date.UTC(2026, 10, 21, 13, 5)): MovableTime {
  let wall = startsAt;
  let passed = 1_000;
  return {
    clock: () => wall,
    monotonic: () => passed,
    pass(ms) {
      passed += ms;
      wall += ms;
      return wall;
    },
    stepClock(ms) {
      wall += ms;
    },
  };
}
