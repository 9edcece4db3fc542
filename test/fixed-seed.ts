import { shareOfRun } from '@parley/core/testing';
import fc from 'fast-check';

/**
 * Property tests look at the same cases each time, so that what fails was broken by the change at hand.
 * `npm run soak:properties` looks for new ones, five times as many: a seed by the clock, which a failure prints.
 */
const FIXED_SEED = 20_261_123;
/** Cases of a whole run, where a property names no number. */
const CASES = 100;

const { PARLEY_TEST_SEED: seed = FIXED_SEED } = process.env;
fc.configureGlobal({
  seed: seed === 'clock' ? Date.now() % 2 ** 31 : Number(seed),
  numRuns: shareOfRun(CASES),
});
