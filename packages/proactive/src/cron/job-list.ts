import type { CronJob } from '@parley/store';
import { wallDayAndMinute } from '../clock/wall-words.ts';
import { type CronDeps, mayRun } from './cron-deps.ts';
import { named } from './cron-words.ts';
import { describeTimetable } from './describe-timetable.ts';

/** How a job stands, for lists. Times in ms. */
export interface JobView {
  readonly id: string;
  readonly title: string;
  readonly task: string;
  /** When it runs, in words. */
  readonly when: string;
  readonly state: CronJob['state'];
  /** Why it does not run although it is on; null where it does. */
  readonly waits: string | null;
  readonly nextAt: number | null;
  readonly lastAt: number | null;
  /** Null while the last run is under way, and before the first. */
  readonly lastOutcome: string | null;
  readonly failures: number;
  /** `telegram:-100`: where its answers go. */
  readonly chat: string;
  /** Where its times count. */
  readonly timeZone: string;
}

/** A job as it stands now. Looking changes nothing. */
export async function viewOf(
  deps: Pick<CronDeps, 'senderNow' | 'timeZone'>,
  job: CronJob,
): Promise<JobView> {
  const may = job.state === 'on' ? await mayRun(deps, job) : null;
  const { id, title, task, timetable, state, nextAt, lastAt, lastOutcome, failures, route } = job;
  return {
    id,
    title,
    task,
    when: describeTimetable(timetable, deps.timeZone),
    state,
    waits: may?.kind === 'waits' ? may.reason : null,
    nextAt,
    lastAt,
    lastOutcome,
    failures,
    chat: `${route.channel}:${route.chatId}`,
    timeZone: timetable.kind === 'cron' ? timetable.timeZone : deps.timeZone,
  };
}

/** One line of a list of jobs. */
export function jobLine(view: JobView): string {
  return [`${named(view)}: ${view.when}`, standing(view), lastRun(view)]
    .filter((part) => part !== null)
    .join('; ');
}

function standing({ state, waits, nextAt, timeZone }: JobView): string {
  switch (state) {
    case 'over':
      return 'over';
    case 'paused':
      return 'paused';
    case 'on': {
      const next = nextAt === null ? 'never' : wallDayAndMinute(nextAt, timeZone);
      return waits === null ? `next ${next}` : `waits, because ${waits}`;
    }
  }
}

function lastRun({ lastAt, lastOutcome, failures, timeZone }: JobView): string | null {
  if (lastAt === null) return null;
  const row = failures > 1 ? ` (${failures} times in a row)` : '';
  return `last ${wallDayAndMinute(lastAt, timeZone)}, ${lastOutcome ?? 'under way'}${row}`;
}
