import type {
  CronBounds,
  CronChange,
  CronJob,
  CronJobRepository,
  NewCronJob,
} from '../cron-jobs.ts';
import type { Database, Sql } from '../database.ts';
import { changedColumns, newCronJobRow, readCronJob } from './cron-job-row.ts';
import {
  dueJobs,
  fireJob,
  nextDue,
  postponeJob,
  settleJob,
  unsettledJobs,
} from './fire-cron-job.ts';

/** Jobs with a timetable on SQL. */
export function cronJobRepository(database: Database): CronJobRepository {
  return {
    add: (job, bounds, now) => database.write((sql) => addJob(sql, job, bounds, now)),
    get: (id) => database.read((sql) => oneJob(sql, 'id', id)),
    find: (askedBy) => database.read((sql) => oneJob(sql, 'asked_by', askedBy)),
    list: (conversationId) =>
      database.read(async (sql) => {
        const all = sql.selectFrom('cron_job').selectAll().orderBy('created_at').orderBy('id');
        const query =
          conversationId === undefined ? all : all.where('conversation_id', '=', conversationId);
        return (await query.execute()).map(readCronJob);
      }),
    due: (now, limit) => database.read((sql) => dueJobs(sql, now, limit)),
    nextAt: () => database.read(nextDue),
    fire: (job, message, nextAt, now) =>
      database.write((sql) => fireJob(sql, { job, message, nextAt, now })),
    unsettled: (limit) => database.read((sql) => unsettledJobs(sql, limit)),
    postpone: (job, nextAt) => database.write((sql) => postponeJob(sql, job, nextAt)),
    settle: (job, outcome, then) => database.write((sql) => settleJob(sql, { job, outcome, then })),
    change: (id, change) => database.write((sql) => changeJob(sql, id, change)),
    remove: (id) =>
      database.write(async (sql) => {
        const gone = sql.deleteFrom('cron_job').where('id', '=', id).returning('id');
        return (await gone.executeTakeFirst()) !== undefined;
      }),
  };
}

async function oneJob(sql: Sql, column: 'id' | 'asked_by', value: string): Promise<CronJob | null> {
  const query = sql.selectFrom('cron_job').selectAll().where(column, '=', value);
  const row = await query.executeTakeFirst();
  return row === undefined ? null : readCronJob(row);
}

async function addJob(
  sql: Sql,
  job: NewCronJob,
  { perConversation, total }: CronBounds,
  now: number,
): Promise<'added' | 'known' | 'full'> {
  const added = await sql
    .insertInto('cron_job')
    .values(newCronJobRow(job, now))
    .onConflict((conflict) => conflict.column('asked_by').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (added === undefined) return 'known';
  // Counted with the new one in place; jobs that are over keep nobody from asking for another.
  const { here, all } = await sql
    .selectFrom('cron_job')
    .select(({ fn, eb }) => [
      fn.countAll<number>().as('all'),
      fn
        .sum<number>(
          eb.case().when('conversation_id', '=', job.conversationId).then(1).else(0).end(),
        )
        .as('here'),
    ])
    .where('state', '!=', 'over')
    .executeTakeFirstOrThrow();
  if (Number(here) <= perConversation && all <= total) return 'added';
  await sql.deleteFrom('cron_job').where('id', '=', job.id).execute();
  return 'full';
}

async function changeJob(sql: Sql, id: string, change: CronChange): Promise<boolean> {
  const columns = changedColumns(change);
  if (Object.keys(columns).length === 0) return false;
  const changed = sql.updateTable('cron_job').set(columns).where('id', '=', id).returning('id');
  return (await changed.executeTakeFirst()) !== undefined;
}
