import { WRONG_CLOCK_MS } from '../zone-clock.ts';
import type { FireDeps, SettleDeps } from './run-jobs.ts';

/** What looking after jobs works with. */
export interface CronScheduleDeps extends FireDeps, SettleDeps {}

/** Jobs with a timetable (H08). Two that look at once do no harm: the rows decide. */
export interface CronSchedule {
  /** Notes what has ended, begins what is due, and says when to look again (ms); null: nothing is planned. */
  look(): Promise<number | null>;
}

/** Runs that are noted, and jobs that are begun, in one look. */
const [NOTED, BEGUN] = [50, 20];

/** Makes the schedule of all jobs of an installation. Loads what runs them when there is something to run. */
export function createCronSchedule(deps: CronScheduleDeps): CronSchedule {
  const { store, clock } = deps;
  let lastLook = Number.POSITIVE_INFINITY;
  return {
    async look() {
      const now = clock();
      const jobs = now < lastLook - WRONG_CLOCK_MS ? await store.cronJobs.list() : [];
      if (jobs.length > 0) {
        const { mendTimes } = await import('./run-jobs.ts');
        await mendTimes(deps, jobs);
      }
      lastLook = now;
      const ended = await store.cronJobs.unsettled(NOTED);
      if (ended.length > 0) {
        const { settleRuns } = await import('./run-jobs.ts');
        await settleRuns(deps, ended);
      }
      const due = await store.cronJobs.due(clock(), BEGUN);
      if (due.length > 0) {
        const { fireDue } = await import('./run-jobs.ts');
        await fireDue(deps, due);
      }
      return store.cronJobs.nextAt();
    },
  };
}
