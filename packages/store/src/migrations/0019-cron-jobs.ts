import type { Migration } from './migration.ts';

/** Jobs with a timetable (H08); `origin`, `route` and `timetable` are JSON. */
export const CRON_JOBS: Migration = {
  number: 19,
  name: 'cron jobs',
  statements: () => [
    `create table cron_job (
      id text not null primary key,
      asked_by text not null unique,
      conversation_id text not null references conversation (id),
      origin text not null,
      route text not null,
      from_owner bigint not null,
      title text not null,
      task text not null,
      timetable text not null,
      state text not null,
      next_at bigint,
      failures bigint not null default 0,
      last_at bigint,
      last_message text,
      last_outcome text,
      created_at bigint not null
    )`,
    `create index cron_job_due on cron_job (next_at) where state = 'on'`,
    'create index cron_job_chat on cron_job (conversation_id, created_at)',
    `create index cron_job_unsettled on cron_job (last_at)
      where last_message is not null and last_outcome is null`,
  ],
};
