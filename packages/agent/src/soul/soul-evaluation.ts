import { type Clock, type Logger, reasonOf } from '@parley/contracts';
import type { SoulRepository, SoulVersion } from '@parley/store';
import { type JudgedScenarios, judgeSoul } from './judge-soul.ts';
import { runScenarios, type ScenarioDeps } from './run-scenarios.ts';
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
    for (const version of await souls.unjudged(agent)) await judgeOne(deps, version, stop);
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

async function judgeOne(
  { agent, souls, trial, settings, clock, log }: SoulEvaluationDeps,
  { number, text, author }: SoulVersion,
  stop: AbortSignal,
): Promise<void> {
  const before = (await souls.applied(agent))?.text ?? null;
  const candidate = { text, before, author };
  const byRules = judgeSoul(candidate, null);
  // A text that the rules refuse anyway costs no model.
  const verdict =
    trial === undefined || byRules.state === 'refused'
      ? byRules
      : judgeSoul(candidate, await tried(await trial(), [text, before ?? text], stop));
  const now = clock();
  const isTimed = verdict.state === 'passed' && settings.apply === 'after-veto-time';
  const appliesAt = isTimed ? now + settings.vetoHours * 3_600_000 : null;
  await souls.judge(agent, number, { ...verdict, appliesAt }, now);
  const { state, score } = verdict;
  log.info({ version: number, state, score }, 'a text for SOUL.md was evaluated');
}

/** The same situations for the text in use: what it cannot do either is not held against the new one. */
async function tried(
  deps: ScenarioDeps,
  [after, before]: readonly [string, string],
  stop: AbortSignal,
): Promise<JudgedScenarios> {
  return {
    after: await runScenarios(deps, after, stop),
    before: await runScenarios(deps, before, stop),
  };
}
