import { vi } from 'vitest';

/** The wall clock of this process, for everything that runs in it, libraries included. */
export interface MachineClock extends Disposable {
  /** Sets it forward, or back (negative); the time that passes and all timers go on as they were. */
  step(ms: number): void;
}

/** Takes the wall clock over until it is disposed. It goes on by itself in the meantime. */
export function takeMachineClock(): MachineClock {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now(), shouldAdvanceTime: true });
  return {
    step: (ms) => void vi.setSystemTime(Date.now() + ms),
    [Symbol.dispose]: () => void vi.useRealTimers(),
  };
}
