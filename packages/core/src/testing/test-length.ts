const SHARE_OF_A_CHANGE = 5;
const DAY_MS = 86_400_000;

/**
 * For tests: how much of a long random test runs. A change is tested with a fifth of it; `PARLEY_TEST_WHOLE=1` runs all
 * of it, as `npm run soak:properties` does at night. A case that has failed once is an example of its own and always runs.
 */
export function shareOfRun(whole: number): number {
  return isWholeRun() ? whole : Math.ceil(whole / SHARE_OF_A_CHANGE);
}

/** For tests: whether all of a long test runs, whose short form is more than a share of its cases. */
export function isWholeRun(): boolean {
  return process.env.PARLEY_TEST_WHOLE === '1';
}

/**
 * For tests: whether the nth of several cases that prove the same runs today. A change is tested with one of `days`
 * consecutive cases, the next day with the next one; a whole run has all of them.
 */
export function isOfDay(nth: number, days: number, now = Date.now()): boolean {
  return isWholeRun() || nth % days === Math.floor(now / DAY_MS) % days;
}

/**
 * For property tests: `numRuns` of fast-check, which counts the examples as well.
 * @param whole generated cases of a whole run.
 */
export function runs<T>(
  whole: number,
  examples: T[] = [],
): { readonly numRuns: number; readonly examples: T[] } {
  return { numRuns: shareOfRun(whole) + examples.length, examples };
}
