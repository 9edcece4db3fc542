import type { Migration } from './migration.ts';

/** When each agent’s heart beats, and the runs of its standing tasks (H01–H05). */
export const HEARTBEATS: Migration = {
  number: 18,
  name: 'heartbeats',
  statements: () => [
    `create table heartbeat (
      agent text not null primary key,
      every_ms bigint not null,
      next_at bigint not null,
      last_at bigint,
      last_reason text
    )`,
    `create table beat (
      id text not null primary key,
      agent text not null,
      task text not null,
      target text not null references conversation (id),
      state text not null,
      reason text,
      alert text,
      fingerprint text,
      entry text,
      parts text,
      held_until bigint,
      turn_id text references turn (id),
      input_tokens bigint not null default 0,
      output_tokens bigint not null default 0,
      started_at bigint not null,
      finished_at bigint
    )`,
    `create unique index beat_running on beat (agent) where state = 'running'`,
    `create index beat_held on beat (held_until) where state = 'held'`,
    'create index beat_task on beat (agent, task, started_at)',
    'create index beat_started on beat (agent, started_at)',
    'create index beat_alert on beat (agent, fingerprint, started_at) where fingerprint is not null',
  ],
};
