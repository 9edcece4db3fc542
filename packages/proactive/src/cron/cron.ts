import { type AskCron, reasonOf } from '@parley/core';
import type { CronJob } from '@parley/store';
import { WRONG_CLOCK_MS } from '../zone-clock.ts';
import type { CronServices, JobView } from './job-view.ts';

/** How many runs are settled, and how many jobs are started, each time due jobs are looked for. */
const [MAX_SETTLED, MAX_STARTED] = [50, 20];

export type Cron = ReturnType<typeof createCron>;

/**
 * Jobs with a timetable (H08). Two processes may look for due jobs at once; the database rows
 * decide. Everything else is loaded when first used.
 */
export function createCron(deps: CronServices) {
  const { store, clock } = deps;
  const runJobs = () => import('./run-jobs.ts');
  let lastLook = Number.POSITIVE_INFINITY;
  let areZonesCompared = false;
  const ask: AskCron = async (order, asker) =>
    (await import('./service.ts')).askCron(deps, order, asker);
  return {
    /** Handles requests from chats, the command line and the page. */
    ask,
    async views(): Promise<readonly JobView[]> {
      const { toJobView } = await import('./job-view.ts');
      return Promise.all((await store.cronJobs.list()).map((job) => toJobView(deps, job)));
    },
    /** Carries out the owner's decision about jobs made in an earlier time zone of an agent. */
    async decideZone(agent: string | undefined, argument: string): Promise<string> {
      return (await import('./zone-change.ts')).answerZone(deps, agent, argument);
    },
    /**
     * Settles finished runs and starts due jobs. Returns when to look again (ms), or null when
     * nothing is planned.
     */
    async runDue(): Promise<number | null> {
      const now = clock();
      const jobs = now < lastLook - WRONG_CLOCK_MS ? await store.cronJobs.list() : [];
      lastLook = now;
      if (jobs.length > 0) await (await runJobs()).correctTimes(deps, jobs);
      if (!areZonesCompared) {
        areZonesCompared = true;
        await compareZones(deps, jobs);
      }
      const ended = await store.cronJobs.unsettled(MAX_SETTLED);
      if (ended.length > 0) await (await runJobs()).settleRuns(deps, ended);
      const due = await store.cronJobs.due(clock(), MAX_STARTED);
      if (due.length > 0) await (await runJobs()).fireDue(deps, due);
      return store.cronJobs.nextAt();
    },
  };
}

/** A job that cannot be updated must not keep the others from running. */
async function compareZones(deps: CronServices, jobs: readonly CronJob[]): Promise<void> {
  if (jobs.length === 0) return;
  try {
    await (await import('./zone-change.ts')).compareZones(deps, jobs);
  } catch (error) {
    deps.log.error({ reason: reasonOf(error) }, 'the zones of jobs could not be compared');
  }
}
