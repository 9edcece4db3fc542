import { type Clock, type Logger, reasonOf } from '@parley/contracts';
import type { SoulRepository } from '@parley/store';
import type { ScenarioDeps } from './run-scenarios.ts';
import type { SoulSettings } from './soul-settings.ts';

/** What judging proposals needs. */
export interface SoulEvaluationDeps {
  readonly agent: string;
  readonly souls: SoulRepository;
  readonly settings: SoulSettings;
  /** Where a judge is configured; else the rules decide alone. Opened when the first proposal comes. */
  readonly trial?: () => Promise<ScenarioDeps>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A model that could not be asked is asked again after this, in ms. */
const TRY_AGAIN_MS = 5 * 60_000;

/**
 * Judges what waits for it, one after another, also what a process that died has left. What it gives
 * back never rejects: a model that fails is left alone for a while.
 */
export function createSoulEvaluation(
  deps: SoulEvaluationDeps,
): (stop?: AbortSignal) => Promise<void> {
  const { agent, souls, clock, log } = deps;
  let notBefore = 0;
  let running: Promise<void> = Promise.resolve();
  const round = async (stop: AbortSignal): Promise<void> => {
    if (clock() < notBefore) return;
    const waiting = await souls.unjudged(agent);
    if (waiting.length === 0) return;
    const { judgeVersion } = await import('./judge-version.ts');
    for (const version of waiting) await judgeVersion(deps, version, stop);
  };
  return (stop = new AbortController().signal) => {
    const next = running.then(() => round(stop));
    running = next.catch((error: unknown) => {
      if (stop.aborted) return;
      notBefore = clock() + TRY_AGAIN_MS;
      log.warn({ reason: reasonOf(error) }, 'SOUL.md could not be evaluated; it is tried again');
    });
    return running;
  };
}
