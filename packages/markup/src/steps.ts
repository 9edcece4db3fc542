/**
 * Work that comes back after every bounded piece of it, a few milliseconds at most, so that a caller
 * can let others go on. Never longer for longer texts.
 */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Does all the work at once, for texts known to be short. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Does the work with a pause after every step. */
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
