import { type FireDeps, fireDue } from './fire-due.ts';
import { mendTimes, WRONG_CLOCK_MS } from './mend-times.ts';
import { type SettleDeps, settleRuns } from './settle-runs.ts';

/** What looking after jobs works with. */
export interface CronScheduleDeps extends FireDeps, SettleDeps {}

/** Jobs with a timetable (H08). Two that look at once do no harm: the rows decide. */
export interface CronSchedule {
  /** Notes what has ended, begins what is due, and says when to look again (ms); null: nothing is planned. */
  look(): Promise<number | null>;
}

/** Makes the schedule of all jobs of an installation. */
export function createCronSchedule(deps: CronScheduleDeps): CronSchedule {
  let lastLook = Number.POSITIVE_INFINITY;
  return {
    async look() {
      const now = deps.clock();
      if (now < lastLook - WRONG_CLOCK_MS) await mendTimes(deps);
      lastLook = now;
      await settleRuns(deps);
      await fireDue(deps);
      return deps.store.cronJobs.nextAt();
    },
  };
}
