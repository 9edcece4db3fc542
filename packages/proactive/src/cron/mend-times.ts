import type { CronJob } from '@parley/store';
import type { CronDeps } from './cron-deps.ts';
import { readCronExpression } from './cron-expression.ts';
import { nextTime } from './next-time.ts';
import { WRONG_CLOCK_MS } from './wrong-clock.ts';

const DAY_MS = 24 * 60 * 60_000;

/**
 * Gives jobs another time that were last begun in what is the future now: by a clock that was wrong and
 * has been put back. Without that they would stay away until that time comes again.
 */
export async function mendTimes(
  { store, clock, log }: CronDeps,
  jobs: readonly CronJob[],
): Promise<void> {
  const now = clock();
  for (const job of jobs) {
    const nextAt = mendedTime(job, now);
    if (nextAt === null) continue;
    log.warn({ job: job.id, nextAt }, 'the clock was put back; a job has another time');
    if (job.timetable.kind === 'every') {
      await store.cronJobs.change(job.id, { timetable: { ...job.timetable, from: nextAt } });
    }
    await store.cronJobs.postpone(job, nextAt);
  }
}

/**
 * The time (ms) that a job has at a moment if the one that it has was made by a wrong clock; null: it
 * stays. What ran at a certain hour does not run at that hour again when an hour or a day comes twice.
 */
function mendedTime(
  { state, timetable, nextAt, lastAt, createdAt }: CronJob,
  now: number,
): number | null {
  const known = Math.max(lastAt ?? 0, createdAt);
  if (state !== 'on' || nextAt === null || known <= now + WRONG_CLOCK_MS) return null;
  switch (timetable.kind) {
    case 'once':
      return null;
    case 'every': {
      const soonest = now + timetable.ms;
      return soonest < nextAt ? soonest : null;
    }
    case 'cron': {
      const read = readCronExpression(timetable.expression);
      const isOfEveryHour = read.kind === 'cron' && read.hours === 24;
      if (!isOfEveryHour && known - now <= DAY_MS) return null;
      const soonest = nextTime(timetable, now);
      return soonest !== null && soonest < nextAt ? soonest : null;
    }
  }
}
