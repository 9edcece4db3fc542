const SHARE_OF_A_CHANGE = 5;
const DAY_MS = 86_400_000;

/**
 * For tests: how much of a long random test runs. A change runs a fifth of it;
 * `PARLEY_TEST_WHOLE=1` runs all of it, as `npm run soak:properties` does at night. A case that has
 * failed once becomes an example and always runs.
 */
export function scaleRuns(whole: number): number {
  return isFullRun() ? whole : Math.ceil(whole / SHARE_OF_A_CHANGE);
}

/**
 * For tests: whether a long test runs completely, for tests whose short form is not just a share of
 * their cases.
 */
export function isFullRun(): boolean {
  return process.env.PARLEY_TEST_WHOLE === '1';
}

/**
 * For tests: whether the nth of several cases that prove the same thing runs today. A change runs
 * one of `days` consecutive cases, and the next one on the next day; a whole run has all of them.
 */
export function isDueToday(nth: number, days: number, now = Date.now()): boolean {
  return isFullRun() || nth % days === Math.floor(now / DAY_MS) % days;
}

/**
 * For property tests: fast-check's `numRuns`, which includes the examples.
 * @param whole generated cases of a whole run.
 */
export function toRunOptions<T>(
  whole: number,
  examples: T[] = [],
): { readonly numRuns: number; readonly examples: T[] } {
  return { numRuns: scaleRuns(whole) + examples.length, examples };
}
