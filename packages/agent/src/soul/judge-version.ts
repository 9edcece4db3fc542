import type { SoulVersion } from '@parley/store';
import { type JudgedScenarios, judgeSoul } from './judge-soul.ts';
import { runScenarios, type ScenarioDeps } from './run-scenarios.ts';
import type { SoulEvaluationDeps } from './soul-evaluation.ts';

/** Evaluates one text and stores what came of it. Throws what asking a model throws. */
export async function judgeVersion(
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
