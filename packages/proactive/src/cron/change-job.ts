import type { CronAnswer, CronOrder } from '@parley/contracts';
import type { CronChange, CronJob } from '@parley/store';
import { named } from './cron-words.ts';
import { type CronDeskDeps, refused, rulesNow } from './desk-deps.ts';
import { jobLine, viewOf } from './job-list.ts';
import { changeOf } from './new-job.ts';
import { nextTime } from './next-time.ts';

type Changing = Extract<CronOrder, { action: 'change' | 'remove' | 'pause' | 'resume' | 'run' }>;

/** Does to a job what its person wants. */
export async function changeJob(
  deps: CronDeskDeps,
  order: Changing,
  job: CronJob,
): Promise<CronAnswer> {
  const { store, log } = deps;
  log.info({ job: job.id, action: order.action }, 'a job is changed');
  if (order.action === 'remove') {
    await store.cronJobs.remove(job.id);
    return { ok: true, words: `The job ${named(job)} is removed.` };
  }
  const change = changeBy(deps, order, job);
  if (typeof change === 'string') return refused(change);
  const isThere = await store.cronJobs.change(job.id, change);
  const now = isThere ? await store.cronJobs.get(job.id) : null;
  if (now === null) return refused(`The job ${named(job)} was removed meanwhile.`);
  await deps.planned();
  return { ok: true, words: jobLine(await viewOf(deps, now)) };
}

function changeBy(
  deps: CronDeskDeps,
  order: Exclude<Changing, { action: 'remove' }>,
  job: CronJob,
): CronChange | string {
  const now = deps.clock();
  switch (order.action) {
    case 'pause':
      return job.state === 'over' ? `${named(job)} is over.` : { state: 'paused' };
    case 'resume': {
      if (job.state === 'on') return `${named(job)} is not paused.`;
      const nextAt = nextTime(job.timetable, now);
      if (nextAt === null) {
        return `The time of ${named(job)} is over. Change it to another time, or run it now.`;
      }
      return { state: 'on', nextAt, failures: 0 };
    }
    case 'run':
      if (job.state === 'paused') return `${named(job)} is paused. Resume it first.`;
      return { state: 'on', nextAt: now };
    case 'change': {
      const change = changeOf(order.wish, rulesNow(deps));
      if (typeof change === 'string') return `Not changed. ${change}`;
      if (Object.keys(change).length === 0) return 'Not changed: say what is to be different.';
      return change.nextAt === undefined ? change : { ...change, state: 'on' };
    }
  }
}
