/**
 * Work that yields after every bounded piece of a few milliseconds, so that a caller can let other
 * work continue. Longer text never makes a step longer.
 */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Adds up the cost of small pieces of work and reports when the sum reaches a step. */
export function createStepCounter(enough: number): (work: number) => boolean {
  let done = 0;
  return (work) => {
    done += work;
    if (done < enough) return false;
    done = 0;
    return true;
  };
}

/** Runs all steps without pausing, for text known to be short. */
export function runAllSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

export async function runStepsWithPauses<Result>(
  steps: Steps<Result>,
  pause: () => Promise<void>,
): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await pause();
  }
}
