import type { CronAnswer } from '@parley/contracts';
import type { CronBounds, Store } from '@parley/store';
import type { CronDeps } from './cron-deps.ts';
import type { CronWho } from './job-rights.ts';
import type { TimetableRules } from './read-timetable.ts';

const MINUTE_MS = 60_000;

/** What the desk for jobs works with. */
export interface CronDeskDeps extends CronDeps {
  readonly store: Pick<Store, 'cronJobs' | 'links'>;
  readonly settings: CronBounds & { readonly who: CronWho; readonly leastMinutes: number };
  /** A short name for people to type. */
  readonly newCode: () => string;
  /** Something is planned: the schedule is looked at. */
  readonly planned: () => Promise<void>;
}

/** How times are read at this moment. */
export function rulesNow({ timeZone, clock, settings }: CronDeskDeps): TimetableRules {
  return { timeZone, now: clock(), leastMs: settings.leastMinutes * MINUTE_MS };
}

/** An answer that says no, and why. */
export function refused(words: string): CronAnswer {
  return { ok: false, words };
}
