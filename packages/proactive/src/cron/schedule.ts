import { WRONG_CLOCK_MS } from '../zone-clock.ts';
import type { FireDeps, SettleDeps } from './run-jobs.ts';

export interface CronScheduleDeps extends FireDeps, SettleDeps {}

/** Jobs with a timetable (H08). Two processes may look at once: the rows decide. */
export interface CronSchedule {
  /** Settles finished runs, starts due jobs, and returns when to look again (ms); null: nothing is planned. */
  look(): Promise<number | null>;
}

/** Runs settled, and jobs started, per look. */
const [MOST_SETTLED, MOST_STARTED] = [50, 20];

/** Creates the schedule of all jobs. What runs them is loaded when a job is due. */
export function createCronSchedule(deps: CronScheduleDeps): CronSchedule {
  const { store, clock } = deps;
  let lastLook = Number.POSITIVE_INFINITY;
  return {
    async look() {
      const now = clock();
      const jobs = now < lastLook - WRONG_CLOCK_MS ? await store.cronJobs.list() : [];
      if (jobs.length > 0) {
        const { correctTimes } = await import('./run-jobs.ts');
        await correctTimes(deps, jobs);
      }
      lastLook = now;
      const ended = await store.cronJobs.unsettled(MOST_SETTLED);
      if (ended.length > 0) {
        const { settleRuns } = await import('./run-jobs.ts');
        await settleRuns(deps, ended);
      }
      const due = await store.cronJobs.due(clock(), MOST_STARTED);
      if (due.length > 0) {
        const { fireDue } = await import('./run-jobs.ts');
        await fireDue(deps, due);
      }
      return store.cronJobs.nextAt();
    },
  };
}
