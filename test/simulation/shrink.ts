import { describeFault, type SimulationFault } from './faults.ts';
import type { SeedResult } from './records.ts';

/** The number of violations printed to explain a failure. */
const SHOWN = 5;

/**
 * Finds the shortest prefix of the faults of a failed run that still fails, by bisection, and
 * describes it. With fewer faults a different promise may be broken, which counts as well.
 */
export async function findShortestFailure(
  failed: SeedResult,
  run: (faults: readonly SimulationFault[]) => Promise<SeedResult>,
): Promise<readonly string[]> {
  const { faults, seed, scene } = failed;
  let best = failed;
  let [enough, tooFew] = [faults.length, -1];
  while (enough - tooFew > 1) {
    const count = Math.floor((enough + tooFew) / 2);
    const result = await run(faults.slice(0, count));
    if (result.violations.length > 0) [enough, best] = [count, result];
    else tooFew = count;
  }
  return [
    `fails with the first ${enough} of ${faults.length} faults:`,
    ...faults.slice(0, enough).map((fault) => `  ${describeFault(fault)}`),
    ...best.violations.slice(0, SHOWN).map((violation) => `  ${violation}`),
    `{ scene: '${scene}', seed: ${seed}, faults: ${enough}, was: '…' },`,
  ];
}
