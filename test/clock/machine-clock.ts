/** The wall clock of this process, for everything that runs in it, libraries included. */
export interface MachineClock extends Disposable {
  /** Sets it forward, or back (negative); the time that passes and all timers go on as they were. */
  step(ms: number): void;
}

/**
 * Takes the wall clock over until it is disposed. It is ahead of the machine's by the steps alone: a clock that a timer
 * moves on runs slow on a busy machine, whose timers come late.
 */
export function takeMachineClock(): MachineClock {
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
