import { reasonOf } from '@parley/contracts';
import type { CronJob } from '@parley/store';
import { type CronDeps, mayRun } from './cron-deps.ts';
import { cronMessage } from './cron-message.ts';
import { nextTime } from './next-time.ts';

/** What beginning the runs of due jobs needs. */
export interface FireDeps extends CronDeps {
  /** Wakes the lane of a conversation. */
  readonly wake: (conversationId: string) => Promise<void>;
}

const MINUTE_MS = 60_000;
/** So often it is looked whether a job that waits may run again. */
const WAIT_MS = 15 * MINUTE_MS;
/** A run that is not over after this long has lost its end; it holds up the next one no more. */
const LONGEST_RUN_MS = 6 * 60 * MINUTE_MS;

/** Begins a run of each of these jobs, which are due. One that cannot be begun is put off and stops no other. */
export async function fireDue(deps: FireDeps, due: readonly CronJob[]): Promise<void> {
  const { store, clock, log } = deps;
  for (const job of due) {
    try {
      await fireOne(deps, job);
    } catch (error) {
      log.error(
        { job: job.id, reason: reasonOf(error) },
        'a job could not be begun; it is put off',
      );
      await store.cronJobs.postpone(job, clock() + MINUTE_MS);
    }
  }
}

async function fireOne(deps: FireDeps, job: CronJob): Promise<void> {
  const { store, clock, log, timeZone } = deps;
  const now = clock();
  const may = await mayRun(deps, job);
  if (may.kind === 'waits') {
    log.info({ job: job.id, reason: may.reason }, 'a job waits');
    await store.cronJobs.postpone(job, now + WAIT_MS);
    return;
  }
  // What was missed meanwhile is one run, and a job for once is over with it.
  const nextAt = job.timetable.kind === 'once' ? null : nextTime(job.timetable, now);
  if (isUnderWay(job, now) && nextAt !== null) {
    log.info({ job: job.id }, 'a job is left out once: its last run is not over yet');
    await store.cronJobs.postpone(job, nextAt);
    return;
  }
  const due = { dueAt: dueTimeOf(job, now), now, timeZone };
  const message = cronMessage(job, may.sender, due);
  const isMine = await store.cronJobs.fire(job, message, nextAt, now);
  log.info({ job: job.id, conversation: message.conversationId, isMine }, 'a job begins');
  if (isMine) await deps.wake(message.conversationId);
}

function isUnderWay({ lastAt, lastOutcome }: CronJob, now: number): boolean {
  return lastAt !== null && lastOutcome === null && now - lastAt < LONGEST_RUN_MS;
}

/** When people expected it; a job for once is expected at its time however often it was put off. */
function dueTimeOf({ timetable, nextAt }: CronJob, now: number): number {
  return timetable.kind === 'once' ? Math.min(timetable.at, now) : (nextAt ?? now);
}
