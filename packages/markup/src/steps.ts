/**
 * Work that comes back after every bounded piece of it, a few milliseconds at most, so that a caller
 * can let others go on. Never longer for longer texts.
 */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Adds up small work and reports each time when there is enough of it for a step. */
export function stepEvery(enough: number): (work: number) => boolean {
  let done = 0;
  return (work) => {
    done += work;
    if (done < enough) return false;
    done = 0;
    return true;
  };
}

/** Does all the work at once, for texts known to be short. */
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
