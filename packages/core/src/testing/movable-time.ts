import type { Clock, Monotonic } from '../time.ts';

/** Time controlled by a test: the wall clock can be set independently of the time that passes. */
export interface MovableTime {
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  /** Advances both clocks. Returns the new time of the wall clock. */
  pass(ms: number): number;
  /** Sets the wall clock forward or back (negative) without advancing the monotonic time. */
  stepClock(ms: number): void;
}

export function createMovableTime(startsAt = Date.UTC(2026, 10, 21, 13, 5)): MovableTime {
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
