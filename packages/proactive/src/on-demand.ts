import type { AskCron, JudgeBeat } from '@parley/contracts';
import type { CronJob } from '@parley/store';
import type { FindTargetDeps, TellFailuresDeps } from './alerts.ts';
import type { CronDeps, JobView } from './cron/job-view.ts';
import type { CronServiceDeps } from './cron/service.ts';
import type { FindTarget } from './heartbeat/order.ts';
import type { ReportDeps } from './heartbeat/report.ts';
import type { HeartbeatReport } from './heartbeat/report-shape.ts';
import type { HeartbeatService, HeartbeatServiceDeps } from './heartbeat/service.ts';
import type { JudgeDeps } from './heartbeat/verdict.ts';

/*
 * Services that are used only on request or by a heartbeat run. Each loads its modules at the first call, so
 * that a start does not wait for them.
 */

/** See `cron/service.ts`. */
export function createCronService(deps: CronServiceDeps): AskCron {
  return async (order, asking) => {
    const loaded = await import('./cron/service.ts');
    return loaded.createCronService(deps)(order, asking);
  };
}

/** See `cron/job-view.ts`. */
export async function viewOf(
  deps: Pick<CronDeps, 'senderNow' | 'timeZone'>,
  job: CronJob,
): Promise<JobView> {
  const loaded = await import('./cron/job-view.ts');
  return loaded.viewOf(deps, job);
}

/** See `alerts.ts`. */
export function createFindTarget(deps: FindTargetDeps): FindTarget {
  return async (task) => {
    const loaded = await import('./alerts.ts');
    return loaded.createFindTarget(deps)(task);
  };
}

/** See `alerts.ts`. */
export function tellFailures(deps: TellFailuresDeps): () => Promise<void> {
  return async () => {
    const loaded = await import('./alerts.ts');
    return loaded.tellFailures(deps)();
  };
}

/** See `heartbeat/verdict.ts`. */
export function createJudge(deps: JudgeDeps): JudgeBeat {
  return async (answer, run) => {
    const loaded = await import('./heartbeat/verdict.ts');
    return loaded.createJudge(deps)(answer, run);
  };
}

/** See `heartbeat/service.ts`. */
export function createHeartbeatService(deps: HeartbeatServiceDeps): HeartbeatService {
  const service = async () => {
    const loaded = await import('./heartbeat/service.ts');
    return loaded.createHeartbeatService(deps);
  };
  return {
    answer: async (asker, argument) => (await service()).answer(asker, argument),
    line: async () => (await service()).line(),
    report: async () => (await service()).report(),
    now: async (id, task) => (await service()).now(id, task),
  };
}

/** See `heartbeat/report.ts`. */
export async function makeReport(deps: ReportDeps): Promise<HeartbeatReport> {
  const loaded = await import('./heartbeat/report.ts');
  return loaded.makeReport(deps);
}
