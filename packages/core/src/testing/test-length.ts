const SHARE_OF_A_CHANGE = 5;

/**
 * For tests: how much of a long random test runs. A change is tested with a fifth of it; `PARLEY_TEST_WHOLE=1` runs all
 * of it, as `npm run soak:properties` does at night. A case that has failed once is an example of its own and always runs.
 */
export function shareOfRun(whole: number): number {
  return process.env.PARLEY_TEST_WHOLE === '1' ? whole : Math.ceil(whole / SHARE_OF_A_CHANGE);
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
