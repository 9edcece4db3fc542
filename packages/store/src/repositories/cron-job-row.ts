import { InboundMessage, ReplyRoute, Timetable } from '@parley/contracts';
import type { Insertable, Selectable } from 'kysely';
import type { CronChange, CronJob, NewCronJob } from '../cron-jobs.ts';
import { fromCheckedJson, toJson } from '../json-column.ts';
import type { CronJobTable } from '../tables/cron-tables.ts';

/** A stored job as the other packages know it. Throws StoreError `store-damaged`. */
export function readCronJob(row: Selectable<CronJobTable>): CronJob {
  const what = `of the job ${row.id}`;
  return {
    id: row.id,
    askedBy: row.asked_by,
    conversationId: row.conversation_id,
    origin: fromCheckedJson(InboundMessage, row.origin, `message ${what}`),
    route: fromCheckedJson(ReplyRoute, row.route, `reply route ${what}`),
    fromOwner: row.from_owner === 1,
    title: row.title,
    task: row.task,
    timetable: fromCheckedJson(Timetable, row.timetable, `timetable ${what}`),
    state: row.state,
    nextAt: row.next_at,
    failures: row.failures,
    lastAt: row.last_at,
    lastOutcome: row.last_outcome,
    createdAt: row.created_at,
  };
}

/** The row of a job that was just asked for. */
export function newCronJobRow(job: NewCronJob, now: number): Insertable<CronJobTable> {
  return {
    id: job.id,
    asked_by: job.askedBy,
    conversation_id: job.conversationId,
    origin: toJson(job.origin),
    route: toJson(job.route),
    from_owner: job.fromOwner ? 1 : 0,
    title: job.title,
    task: job.task,
    timetable: toJson(job.timetable),
    state: 'on',
    next_at: job.nextAt,
    created_at: now,
  };
}

/** The columns that a change concerns; a job that is not on has no next time. */
export function changedColumns({ timetable, nextAt, state, title, task, failures }: CronChange) {
  return {
    ...(title !== undefined && { title }),
    ...(task !== undefined && { task }),
    ...(failures !== undefined && { failures }),
    ...(timetable !== undefined && { timetable: toJson(timetable) }),
    ...(nextAt !== undefined && { next_at: nextAt }),
    ...(state !== undefined && { state }),
    ...(state !== undefined && state !== 'on' && { next_at: null }),
  };
}
