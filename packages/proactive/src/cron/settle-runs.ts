import type { CronJob } from '@parley/store';
import { afterRun } from './after-run.ts';
import type { CronDeps } from './cron-deps.ts';
import { gaveUpWords } from './cron-words.ts';

/** What noting how runs ended needs. */
export interface SettleDeps extends CronDeps {
  /** Tells the chat of a job something, marked and once for each key (G08). */
  readonly tell: (job: CronJob, key: string, words: string) => Promise<void>;
}

/** A job whose last run is over, and how that ended. */
type EndedRun = CronJob & { readonly outcome: string };

/** Notes how the runs ended that are over, and what follows from that. */
export async function settleRuns(
  { store, tell, clock, log }: SettleDeps,
  ended: readonly EndedRun[],
): Promise<void> {
  for (const { outcome, ...job } of ended) {
    const { change, gaveUp } = afterRun(job, outcome, clock());
    if (gaveUp) {
      const failures = change.failures ?? job.failures;
      log.warn({ job: job.id, failures }, 'a job has failed too often');
      // Before it is noted: a crash between the two tells the same again, which is told once.
      await tell(job, `cron:${job.id}:${job.lastAt}`, gaveUpWords({ ...job, failures }));
    }
    await store.cronJobs.settle(job, outcome, change);
  }
}
