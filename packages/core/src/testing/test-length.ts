const SHARE_OF_A_CHANGE = 5;
const DAY_MS = 86_400_000;

/**
 * For tests: the share of a long random test that runs. A run for a change executes a fifth of the
 * test; `PARLEY_TEST_WHOLE=1` executes all of it, as `npm run soak:properties` does at night. A
 * case that has failed once becomes an example and always runs.
 */
export function scaleRunCount(whole: number): number {
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
 * For tests: whether the nth of several similar cases runs today. A run for a change executes one
 * of `days` consecutive cases, and the next case on the next day; a complete run executes all of
 * them.
 */
export function isDueToday(nth: number, days: number, now = Date.now()): boolean {
  return isFullRun() || nth % days === Math.floor(now / DAY_MS) % days;
}

/** For property tests: fast-check's `numRuns`, which includes the examples. */
export function toRunOptions<T>(
  whole: number,
  examples: T[] = [],
): { readonly numRuns: number; readonly examples: T[] } {
  return { numRuns: scaleRunCount(whole) + examples.length, examples };
}
