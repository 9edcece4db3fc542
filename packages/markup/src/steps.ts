/**
 * Work that yields after every bounded piece, a few milliseconds at most, so that a caller can let
 * other work continue. Longer texts never make a step longer.
 */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Adds up small pieces of work and reports when they amount to a step. */
export function createStepCounter(enough: number): (work: number) => boolean {
  let done = 0;
  return (work) => {
    done += work;
    if (done < enough) return false;
    done = 0;
    return true;
  };
}

/** Runs all steps without pausing, for texts known to be short. */
export function runAllSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

export async function finishInTurns<Result>(
  steps: Steps<Result>,
  pause: () => Promise<void>,
): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await pause();
  }
}
