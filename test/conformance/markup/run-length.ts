import { scaleRunCount } from '@parley/core/testing';

/** How long a property test runs. */
export interface RunLength {
  /** The number of documents per property. */
  readonly numRuns: number;
  readonly seed?: number;
}

/** The number of documents per property in a long run, which uses a different seed each time. */
const LONG_RUN = process.env.PARLEY_TEST_DOCUMENTS;

/** The number of documents per property in a full run. */
const DOCUMENTS = 200;

/**
 * Other runs always use the same documents, so that a new finding does not block unrelated work.
 */
export const RUN_LENGTH: RunLength =
  LONG_RUN === undefined
    ? { numRuns: scaleRunCount(DOCUMENTS), seed: 20_261_121 }
    : { numRuns: Number(LONG_RUN) };

/** In ms, and long enough for a slow machine and for finding a small counterexample. */
export const TIMEOUT = 300_000 + RUN_LENGTH.numRuns * 50;
