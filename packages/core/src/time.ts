/**
 * Wall-clock time in milliseconds since 1970, for moments that are stored, shown or compared with a
 * calendar. The clock may jump in either direction at any time: a laptop wakes up, a virtual
 * machine is restored, a person or NTP corrects the clock. Durations are measured with `Monotonic`.
 */
export type Clock = () => number;

/**
 * Whole milliseconds since an arbitrary moment of this process; the value never decreases and never
 * jumps. Used for every duration within a process: rates, pauses, deadlines, the age of cached
 * data. The values have no meaning in another process or after a restart, so they are never stored.
 */
export type Monotonic = () => number;

/**
 * The clocks and the random source of the machine. Code between adapter and outbox receives them as
 * parameters; a lint rule forbids the globals, which only this file reads. The globals are looked
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
