import { notifyOfSoul, type SoulKeeper, type SoulNoticeDeps } from '@parley/agent';
import type { Logger } from '@parley/contracts';
import { type Sweep, startSweep } from '@parley/queue';

/** What looking after SOUL.md needs. */
export interface KeepSoulDeps extends SoulNoticeDeps {
  readonly keeper: SoulKeeper;
  /** Where there are several workers: runs work in one of them, and not at all in the others. */
  readonly once?: ((work: () => Promise<void>) => Promise<void>) | undefined;
  readonly log: Logger;
}

const LOOK_EVERY_MS = 5_000;

/**
 * Looks after SOUL.md (W06): evaluates what waits for it, puts into use what nobody vetoed in time, and
 * tells the owner; also what happened or was due while nothing ran.
 */
export function keepSoul(deps: KeepSoulDeps): Sweep {
  const { keeper, clock, log, once = (work) => work() } = deps;
  const ending = new AbortController();
  const sweep = startSweep('soul', LOOK_EVERY_MS, log, async () => {
    if (await keeper.rests(clock())) return;
    await keeper.look();
    // A model is asked, which costs; everything else does no harm when several do it.
    await once(() => keeper.evaluate(ending.signal));
    await keeper.applyDue(clock());
    await notifyOfSoul(deps);
  });
  return {
    async stop() {
      // Models take their time, and what is not judged is judged after the next start.
      ending.abort();
      await sweep.stop();
    },
  };
}
