import type { AskCron, JudgeBeat } from '@parley/contracts';
import type { CronJob } from '@parley/store';
import type { FindTargetDeps } from './alerts/find-target.ts';
import type { TellFailuresDeps } from './alerts/tell-failures.ts';
import type { CronDeps } from './cron/cron-deps.ts';
import type { CronDeskDeps } from './cron/desk-deps.ts';
import type { JobView } from './cron/job-list.ts';
import type { HeartbeatDesk, HeartbeatDeskDeps } from './desk/heartbeat-desk.ts';
import type { HeartbeatReport } from './desk/heartbeat-report.ts';
import type { ReportDeps } from './desk/make-report.ts';
import type { FindTarget } from './heartbeat/beat-target.ts';
import type { JudgeBeatsDeps } from './verdict/judge-beats.ts';

/*
 * What is needed when somebody asks, or when a beat runs, is fifty modules; a start should not wait
 * for them. Node caches the modules.
 */

/** `createCronDesk` of `cron/cron-desk.ts`. */
export function createCronDesk(deps: CronDeskDeps): AskCron {
  return async (order, asking) => {
    const loaded = await import('./cron/cron-desk.ts');
    return loaded.createCronDesk(deps)(order, asking);
  };
}

/** `viewOf` of `cron/job-list.ts`. */
export async function viewOf(
  deps: Pick<CronDeps, 'senderNow' | 'timeZone'>,
  job: CronJob,
): Promise<JobView> {
  const loaded = await import('./cron/job-list.ts');
  return loaded.viewOf(deps, job);
}

/** `createFindTarget` of `alerts/find-target.ts`. */
export function createFindTarget(deps: FindTargetDeps): FindTarget {
  return async (task) => {
    const loaded = await import('./alerts/find-target.ts');
    return loaded.createFindTarget(deps)(task);
  };
}

/** `tellFailures` of `alerts/tell-failures.ts`. */
export function tellFailures(deps: TellFailuresDeps): () => Promise<void> {
  return async () => {
    const loaded = await import('./alerts/tell-failures.ts');
    return loaded.tellFailures(deps)();
  };
}

/** `judgeBeats` of `verdict/judge-beats.ts`. */
export function judgeBeats(deps: JudgeBeatsDeps): JudgeBeat {
  return async (answer, run) => {
    const loaded = await import('./verdict/judge-beats.ts');
    return loaded.judgeBeats(deps)(answer, run);
  };
}

/** `heartbeatDesk` of `desk/heartbeat-desk.ts`. */
export function heartbeatDesk(deps: HeartbeatDeskDeps): HeartbeatDesk {
  const desk = async () => {
    const loaded = await import('./desk/heartbeat-desk.ts');
    return loaded.heartbeatDesk(deps);
  };
  return {
    answer: async (asker, argument) => (await desk()).answer(asker, argument),
    line: async () => (await desk()).line(),
    report: async () => (await desk()).report(),
    now: async (id, task) => (await desk()).now(id, task),
  };
}

/** `makeReport` of `desk/make-report.ts`. */
export async function makeReport(deps: ReportDeps): Promise<HeartbeatReport> {
  const loaded = await import('./desk/make-report.ts');
  return loaded.makeReport(deps);
}
