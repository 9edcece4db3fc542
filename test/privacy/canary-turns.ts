import { scaleRunCount } from '@parley/core/testing';
import { expect, it } from 'vitest';
import { runWorld } from './run-world.ts';
import { createTally, describeTally } from './tally.ts';

/**
 * The number of worlds in all files together. A short world lacks variety, so a normal run has
 * fewer worlds.
 */
const WORLDS = Math.max(2, scaleRunCount(4));
/** How many turns a long run checks; it uses different worlds each time. */
const LONG_RUN = process.env.PARLEY_TEST_TURNS;
/** Selects a single world, by the number that a failure reports. */
const ONE_WORLD = process.env.PARLEY_TEST_WORLD;
const TURNS = Number(LONG_RUN ?? WORLDS * 250);
const FIRST_SEED = LONG_RUN === undefined ? 20_261_121 : Date.now() % 1_000_000_000;

/**
 * Half of all random worlds, either the even or the odd worlds: two files run in parallel. Other
 * runs always use the same worlds, so that a new finding does not block unrelated work.
 */
export function testCanaryTurns(half: 'even' | 'odd'): void {
  const worlds = Array.from({ length: WORLDS }, (_, world) => world).filter(
    (world) => world % 2 === (half === 'even' ? 0 : 1),
  );
  const turns = Math.ceil(TURNS / WORLDS);
  const all = turns * worlds.length;
  it(
    `[W02] [W03] [W04] [W09] [F14] is in every turn of its agent's main session and in no other turn, in ${all} random turns`,
    async () => {
      const tally = createTally();
      for (const world of worlds) {
        const seed = ONE_WORLD === undefined ? FIRST_SEED + world : Number(ONE_WORLD);
        await runWorld(seed, turns, tally);
      }
      console.log(describeTally(tally));
      expect(tally.leaks).toEqual([]);
      expect(tally.missing).toEqual([]);
      expect(tally.turns).toBe(all);
      // Every searched text has occurred often enough that its absence would be noticed.
      const { ownerTurns, privateShown, publicShown, groupShown, remembered } = tally;
      const { toolCalls, refused, late, joined, others } = tally;
      for (const count of [
        ...[ownerTurns, privateShown, publicShown, groupShown, remembered],
        ...[toolCalls, refused, joined, late - joined, others, all - others],
      ]) {
        expect(count).toBeGreaterThan(all / 20);
      }
      // Every world ends with files into which the model has copied private words.
      expect(tally.laundered).toBeGreaterThanOrEqual(worlds.length);
    },
    120_000 + TURNS * 100,
  );
}
