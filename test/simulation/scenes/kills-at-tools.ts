import type { RandomChance } from '../engine/chance.ts';
import type { MakeInvariant } from '../invariants/invariant.ts';
import { createJournalReader } from '../invariants/journal.ts';

/**
 * The probability that a process is killed after its model has called tools, and within how many of
 * its events: an edit of a file takes about forty, and is on the disk after the thirtieth.
 */
const SHARE = 0.25;
const MAX_STEPS = 44;

/**
 * Kills processes while they run tools: only a few events of many thousands lie between the step
 * that requests a call and its result, so random faults hardly ever hit them. It does not check a
 * promise itself.
 */
export const killsAtTools: MakeInvariant = () => {
  const read = createJournalReader();
  let chance: RandomChance | undefined;
  return {
    id: 'G16',
    afterChange: (simulation, process = '') => {
      const calls = read(simulation).flatMap((step) => step.calls);
      if (calls.length === 0 || Number.isFinite(simulation.calmSince)) return [];
      chance ??= simulation.chance('kills at tools');
      if (!chance.happens(SHARE)) return [];
      const [name = ''] = process.split('.');
      const steps = Math.floor(chance.between(0, MAX_STEPS));
      simulation.supervisor.killAfter(name, steps, chance.between(50, 2_000));
      return [];
    },
  };
};
