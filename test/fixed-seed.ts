import { scaleRunCount } from '@parley/core/testing';
import fc from 'fast-check';

/**
 * Property tests use the same cases each time, so that a failure is caused by the current change.
 * `npm run soak:properties` tries five times as many new cases, with a seed from the clock; a
 * failure prints the seed.
 */
const FIXED_SEED = 20_261_123;
/** Cases in a full run, unless a property sets its own number. */
const CASES = 100;

const { PARLEY_TEST_SEED: seed = FIXED_SEED } = process.env;
fc.configureGlobal({
  seed: seed === 'clock' ? Date.now() % 2 ** 31 : Number(seed),
  numRuns: scaleRunCount(CASES),
});
