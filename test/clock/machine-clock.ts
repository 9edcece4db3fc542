/** The wall clock of this process, for everything that runs in it, including libraries. */
export interface MachineClock extends Disposable {
  /** Sets the clock forward, or back if negative; elapsed time and all timers are unaffected. */
  step(ms: number): void;
}

/**
 * Replaces the wall clock until disposed. The clock differs from the machine's clock only by the
 * steps: a clock advanced by a timer would run slow on a busy machine, where timers are late.
 */
export function installMachineClock(): MachineClock {
  const MachineDate = globalThis.Date;
  let ahead = 0;
  class SteppedDate extends MachineDate {
    constructor(...values: readonly [] | readonly [number]) {
      if (values.length === 0) super(SteppedDate.now());
      else super(...values);
    }

    static override now(): number {
      return MachineDate.now() + ahead;
    }
  }
  Object.assign(globalThis, { Date: SteppedDate });
  return {
    step: (ms) => {
      ahead += ms;
    },
    [Symbol.dispose]: () => void Object.assign(globalThis, { Date: MachineDate }),
  };
}
