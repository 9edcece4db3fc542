import type { JudgeBeat } from '@parley/core';
import type * as alerts from './alerts.ts';
import type * as runs from './heartbeat/run.ts';
import type { JudgeServices } from './heartbeat/verdict.ts';

/*
 * Services that are used only on request or by a heartbeat run. Each loads its modules at the first call, so
 * that a start does not wait for them.
 */

export function createFindTarget(deps: alerts.FindTargetServices): alerts.FindTarget {
  return async (task) => (await import('./alerts.ts')).createFindTarget(deps)(task);
}

export function createJudge(deps: JudgeServices): JudgeBeat {
  return async (...run) => (await import('./heartbeat/verdict.ts')).createJudge(deps)(...run);
}

export async function tokensToday(...of: Parameters<typeof runs.tokensToday>): Promise<number> {
  return (await import('./heartbeat/run.ts')).tokensToday(...of);
}
