import { shareOfRun } from '@parley/core/testing';

/** How long a test of properties runs. */
export interface RunLength {
  /** Documents for each property. */
  readonly numRuns: number;
  readonly seed?: number;
}

/** Documents of a long run, for each property; it looks for more and takes another seed each time. */
const LONG_RUN = process.env.PARLEY_TEST_DOCUMENTS;

/** Of a whole run, for each property. */
const DOCUMENTS = 200;

/** Otherwise always the same documents, as a find should not stop others' work. */
export const RUN_LENGTH: RunLength =
  LONG_RUN === undefined
    ? { numRuns: shareOfRun(DOCUMENTS), seed: 20_261_121 }
    : { numRuns: Number(LONG_RUN) };

/** Enough for a slow machine and for finding a small counterexample, in ms. */
export const TIMEOUT = 300_000 + RUN_LENGTH.numRuns * 50;
