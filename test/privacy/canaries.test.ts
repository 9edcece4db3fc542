import { describe, expect, it } from 'vitest';
import { runWorld } from './run-world.ts';
import { describeTally, emptyTally } from './tally.ts';

const WORLDS = 8;
/** Of a long run; it takes other worlds each time. */
const LONG_RUN = process.env.PARLEY_TEST_TURNS;
/** To see one world again, by the number that a failure names. */
const ONE_WORLD = process.env.PARLEY_TEST_WORLD;
const TURNS = Number(LONG_RUN ?? 10_000);
const FIRST_SEED = LONG_RUN === undefined ? 20_261_121 : Date.now() % 1_000_000_000;

describe('what only the owner may see', () => {
  it(
    `[W02] [W03] [W04] is in every turn of the main session and in no other, in ${TURNS} random turns`,
    async () => {
      const tally = emptyTally();
      for (let world = 0; world < WORLDS; world += 1) {
        const seed = ONE_WORLD === undefined ? FIRST_SEED + world : Number(ONE_WORLD);
        await runWorld(seed, Math.ceil(TURNS / WORLDS), tally);
      }
      console.log(describeTally(tally));
      expect(tally.leaks).toEqual([]);
      expect(tally.missing).toEqual([]);
      expect(tally.turns).toBeGreaterThanOrEqual(TURNS);
      expect(Math.min(tally.ownerTurns, tally.privateShown, tally.publicShown)).toBeGreaterThan(
        TURNS / 20,
      );
    },
    120_000 + TURNS * 50,
  );
});
