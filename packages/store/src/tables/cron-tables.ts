import type { Generated } from 'kysely';
import type { CronJobState } from '../cron-jobs.ts';

/** Jobs with a timetable; `last_message` is the id of the message that their last run began with. */
export interface CronJobTable {
  id: string;
  asked_by: string;
  conversation_id: string;
  origin: string;
  route: string;
  from_owner: number;
  title: string;
  task: string;
  timetable: string;
  state: CronJobState;
  next_at: number | null;
  failures: Generated<number>;
  last_at: Generated<number | null>;
  last_message: Generated<string | null>;
  last_outcome: Generated<string | null>;
  created_at: number;
}

/** What people have asked for at a time to come. */
export interface CronTables {
  cron_job: CronJobTable;
}
