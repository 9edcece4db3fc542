import type { AskCron, JudgeBeat } from '@parley/contracts';
import type { CronJob } from '@parley/store';
import type { FindTargetDeps, TellFailuresDeps } from './alerts.ts';
import type { CronDeps, JobView } from './cron/job-view.ts';
import type { CronDeskDeps } from './cron/service.ts';
import type { ReportDeps } from './heartbeat/report.ts';
import type { HeartbeatReport } from './heartbeat/report-shape.ts';
import type { FindTarget } from './heartbeat/run.ts';
import type { HeartbeatDesk, HeartbeatDeskDeps } from './heartbeat/service.ts';
import type { JudgeBeatsDeps } from './heartbeat/verdict.ts';

/*
 * What is needed when somebody asks, or when a beat runs, is fifty modules; a start should not wait
 * for them. Node caches the modules.
 */

/** `createCronDesk` of `cron/cron-desk.ts`. */
export function createCronDesk(deps: CronDeskDeps): AskCron {
  return async (order, asking) => {
    const loaded = await import('./cron/service.ts');
    return loaded.createCronDesk(deps)(order, asking);
  };
}

/** `viewOf` of `cron/job-list.ts`. */
export async function viewOf(
  deps: Pick<CronDeps, 'senderNow' | 'timeZone'>,
  job: CronJob,
): Promise<JobView> {
  const loaded = await import('./cron/job-view.ts');
  return loaded.viewOf(deps, job);
}

/** `createFindTarget` of `alerts/find-target.ts`. */
export function createFindTarget(deps: FindTargetDeps): FindTarget {
  return async (task) => {
    const loaded = await import('./alerts.ts');
    return loaded.createFindTarget(deps)(task);
  };
}

/** `tellFailures` of `alerts/tell-failures.ts`. */
export function tellFailures(deps: TellFailuresDeps): () => Promise<void> {
  return async () => {
    const loaded = await import('./alerts.ts');
    return loaded.tellFailures(deps)();
  };
}

/** `judgeBeats` of `verdict/judge-beats.ts`. */
export function judgeBeats(deps: JudgeBeatsDeps): JudgeBeat {
  return async (answer, run) => {
    const loaded = await import('./heartbeat/verdict.ts');
    return loaded.judgeBeats(deps)(answer, run);
  };
}

/** `heartbeatDesk` of `desk/heartbeat-desk.ts`. */
export function heartbeatDesk(deps: HeartbeatDeskDeps): HeartbeatDesk {
  const desk = async () => {
    const loaded = await import('./heartbeat/service.ts');
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
  const loaded = await import('./heartbeat/report.ts');
  return loaded.makeReport(deps);
}
