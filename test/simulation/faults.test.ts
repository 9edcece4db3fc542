import { describe, expect, it } from 'vitest';
import { createChance } from './engine/chance.ts';
import { describeFault, FAULT_KINDS, planFaults } from './faults.ts';

const processes = ['gateway', 'worker'];
const plan = (seed: number, kinds = FAULT_KINDS) =>
  planFaults(createChance(seed, 'faults'), { kinds, processes, forMs: 60_000 });

describe('faults planned from a seed', () => {
  it('[D17] are the same on each run and differ between seeds', () => {
    expect(plan(7)).toEqual(plan(7));
    expect(plan(7)).not.toEqual(plan(8));
  });

  it('are ordered by time and occur within the scene', () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      const times = plan(seed).map(({ at }) => at);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(times.length).toBeGreaterThan(5);
      expect(Math.max(...times)).toBeLessThan(60_000);
    }
  });

  it('cover exactly the requested kinds', () => {
    const seen = new Set<string>();
    for (let seed = 1; seed <= 50; seed += 1) {
      for (const fault of plan(seed)) {
        seen.add(fault.kind === 'weather' ? fault.what : fault.kind);
        expect(describeFault(fault)).toMatch(/^\d+\.\d\d s: ./);
      }
    }
    expect([...seen].toSorted()).toEqual(FAULT_KINDS.toSorted());
    expect(plan(1, ['pause']).every(({ kind }) => kind === 'pause')).toBe(true);
    expect(plan(1, [])).toEqual([]);
  });
});
