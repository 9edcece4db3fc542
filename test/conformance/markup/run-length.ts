import { scaleRuns } from '@parley/core/testing';

/** How long a property test runs. */
export interface RunLength {
  /** Documents per property. */
  readonly numRuns: number;
  readonly seed?: number;
}

/** Documents per property in a long run, which tries more and uses another seed each time. */
const LONG_RUN = process.env.PARLEY_TEST_DOCUMENTS;

/** Documents per property in a full run. */
const DOCUMENTS = 200;

/** Otherwise always the same documents, so that a new finding does not block unrelated work. */
export const RUN_LENGTH: RunLength =
  LONG_RUN === undefined
    ? { numRuns: scaleRuns(DOCUMENTS), seed: 20_261_121 }
    : { numRuns: Number(LONG_RUN) };

/** Enough for a slow machine and for finding a small counterexample, in ms. */
export const TIMEOUT = 300_000 + RUN_LENGTH.numRuns * 50;
