import { type AskCron, reasonOf } from '@parley/core';
import type { CronJob } from '@parley/store';
import { WRONG_CLOCK_MS } from '../zone-clock.ts';
import type { CronServices, JobView } from './job-view.ts';

/** The maximum number of runs to settle, and of jobs to start, per poll. */
const [MAX_SETTLED, MAX_STARTED] = [50, 20];

export type Cron = ReturnType<typeof createCron>;

/**
 * Runs jobs with a timetable (H08). Two processes may poll for due jobs at the same time; the
 * database rows decide. All other modules are loaded on first use.
 */
export function createCron(deps: CronServices) {
  const { store, clock } = deps;
  const runJobs = () => import('./run-jobs.ts');
  let lastLook = Number.POSITIVE_INFINITY;
  let areZonesCompared = false;
  const ask: AskCron = async (order, asker) =>
    (await import('./service.ts')).handleCronRequest(deps, order, asker);
  return {
    /** Handles requests from chats, the command line and the web page. */
    ask,
    async views(): Promise<readonly JobView[]> {
      const { toJobView } = await import('./job-view.ts');
      return Promise.all((await store.cronJobs.list()).map((job) => toJobView(deps, job)));
    },
    /** Applies the owner's decision about jobs created in an agent's earlier time zone. */
    async decideZone(agent: string | undefined, argument: string): Promise<string> {
      return (await import('./zone-change.ts')).handleZoneCommand(deps, agent, argument);
    },
    /**
     * Settles finished runs and starts due jobs. Returns the time of the next poll (ms), or null if
     * nothing is scheduled.
     */
    async runDue(): Promise<number | null> {
      const now = clock();
      const jobs = now < lastLook - WRONG_CLOCK_MS ? await store.cronJobs.list() : [];
      lastLook = now;
      if (jobs.length > 0) await (await runJobs()).correctJobTimes(deps, jobs);
      if (!areZonesCompared) {
        areZonesCompared = true;
        await compareZones(deps, jobs);
      }
      const ended = await store.cronJobs.unsettled(MAX_SETTLED);
      if (ended.length > 0) await (await runJobs()).settleRuns(deps, ended);
      const due = await store.cronJobs.due(clock(), MAX_STARTED);
      if (due.length > 0) await (await runJobs()).fireDueJobs(deps, due);
      return store.cronJobs.nextAt();
    },
  };
}

/** A job that cannot be updated must not prevent other jobs from running. */
async function compareZones(deps: CronServices, jobs: readonly CronJob[]): Promise<void> {
  if (jobs.length === 0) return;
  try {
    await (await import('./zone-change.ts')).compareZones(deps, jobs);
  } catch (error) {
    deps.log.error({ reason: reasonOf(error) }, 'the time zones of jobs could not be compared');
  }
}
