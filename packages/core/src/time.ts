/**
 * Wall-clock time in milliseconds since 1970, for moments that are stored, shown or compared with a
 * calendar. It may jump in either direction at any time: a laptop wakes up, a virtual machine is
 * restored, a person or NTP corrects the clock. Durations are measured with `Monotonic`.
 */
export type Clock = () => number;

/**
 * Whole milliseconds since some moment of this process; never decreases and never jumps. For every
 * duration within a process: rates, pauses, deadlines, the age of cached data. Its values mean
 * nothing in another process or after a restart, so none is stored.
 */
export type Monotonic = () => number;

/**
 * The time and randomness of the machine. Code between adapter and outbox gets them passed in; a
 * lint rule forbids the globals there, and this is the only place that reads them. They are looked
 * up at each call, so that a simulation can replace them for its entire thread.
 */
export const systemTime = {
  clock: (): number => Date.now(),
  monotonic: (): number => Math.floor(performance.now()),
  random: (): number => Math.random(),
} as const satisfies {
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly random: () => number;
};
