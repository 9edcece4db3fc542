import { type Logger, reasonOf } from '@parley/contracts';

/** A repeating task that never overlaps itself. */
export interface Sweep {
  /** Ends the repetition and waits for a running round. */
  stop(): Promise<void>;
}

/** Starts a sweep whose name and pace are settled. */
export type StartSweep = (task: () => Promise<void>) => Sweep;

/**
 * Runs `task` now and then every `intervalMs` after it has finished: finds work whose wake-up was
 * lost. A failed round is logged and the next one comes all the same.
 */
export function startSweep(
  name: string,
  intervalMs: number,
  log: Logger,
  task: () => Promise<void>,
): Sweep {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let round = Promise.resolve();
  const run = (): void => {
    round = task()
      .catch((error: unknown) => log.warn({ sweep: name, reason: reasonOf(error) }, 'sweep failed'))
      .then(() => {
        if (stopped) return;
        timer = setTimeout(run, intervalMs);
        timer.unref();
      });
  };
  run();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await round;
    },
  };
}
