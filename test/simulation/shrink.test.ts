import { describe, expect, it } from 'vitest';
import type { SimulationFault } from './faults.ts';
import type { SeedResult } from './records.ts';
import { findShortestFailure } from './shrink.ts';

const fault = (at: number): SimulationFault => ({
  kind: 'pause',
  at,
  process: 'worker',
  when: 'at-once',
  forMs: 1_000,
});

/** A run that fails if it has at least this many faults. */
function failsFrom(enough: number) {
  return async (faults: readonly SimulationFault[]): Promise<SeedResult> => ({
    seed: 7,
    scene: 'shared',
    hash: '',
    faults,
    violations: faults.length >= enough ? [`[D01] with ${faults.length}`] : [],
    questions: 1,
    answered: 0,
    events: 0,
    took: 0,
  });
}

describe('the shortest failure', () => {
  it.each([0, 1, 4, 9, 10])('[D17] is found when the first %i faults suffice', async (enough) => {
    const run = failsFrom(enough);
    const faults = Array.from({ length: 10 }, (_, index) => fault(index * 1_000));
    const lines = await findShortestFailure(await run(faults), run);
    expect(lines[0]).toBe(`fails with the first ${enough} of 10 faults:`);
    expect(lines.filter((line) => line.includes('is paused'))).toHaveLength(enough);
    expect(lines).toContain(`  [D01] with ${enough}`);
    expect(lines.at(-1)).toBe(`{ scene: 'shared', seed: 7, faults: ${enough}, was: '…' },`);
  });
});
