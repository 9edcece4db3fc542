import { type Migration, seq } from './migration.ts';

/**
 * Summaries of conversations (G11). The key lets each be written once, whoever comes first; a row without
 * content is a claim. The index finds what was said on one day.
 */
export const SUMMARIES: Migration = {
  number: 13,
  name: 'summaries',
  statements: (dialect) => [
    `create table summary (
      seq ${seq(dialect)},
      conversation_id text not null references conversation (id),
      session bigint not null,
      reader text not null,
      kind text not null,
      mark text not null,
      reaches bigint,
      content text,
      claimed_by text,
      claimed_until bigint not null,
      created_at bigint not null,
      unique (conversation_id, session, reader, kind, mark)
    )`,
    'create index transcript_said on transcript (conversation_id, session, created_at)',
  ],
};

/**
 * Modes (G04) and approvals (G05). A suspended turn stays `running` and says what it awaits, so that
 * everything which ends or counts unfinished turns goes on to see it.
 */
export const APPROVALS: Migration = {
  number: 14,
  name: 'modes and approvals',
  statements: (dialect) => [
    `alter table conversation add column mode text not null default 'agent'`,
    'alter table conversation add column mode_since bigint not null default 0',
    'alter table turn add column awaits text',
    `create table approval (
      seq ${seq(dialect)},
      code text not null unique,
      conversation_id text not null references conversation (id),
      turn_id text not null references turn (id),
      call_key text not null,
      tool text not null,
      shown text not null,
      asked_by text not null,
      place text not null,
      approvers text not null,
      state text not null,
      asked_at bigint not null,
      expires_at bigint not null,
      decided_by text,
      decided_at bigint,
      result text,
      unique (turn_id, call_key)
    )`,
    `create index approval_open on approval (conversation_id, seq) where state = 'pending'`,
    `create index approval_due on approval (expires_at) where state = 'pending'`,
  ],
};

/** Runs of sub-agents (G07). Their lanes, turns and journals are rows like everybody's. */
export const SUB_AGENTS: Migration = {
  number: 15,
  name: 'sub-agents',
  statements: () => [
    `create table sub_agent (
      id text not null primary key,
      call_id text not null unique,
      conversation_id text not null unique references conversation (id),
      parent_conversation text not null references conversation (id),
      root_conversation text not null references conversation (id),
      parent_turn text not null references turn (id),
      depth bigint not null,
      title text not null,
      task text not null,
      reader text not null,
      origin text not null,
      route text not null,
      from_owner bigint not null,
      state text not null,
      result text,
      steps bigint not null default 0,
      input_tokens bigint not null default 0,
      output_tokens bigint not null default 0,
      cost_usd double precision default 0,
      started_at bigint not null,
      finished_at bigint
    )`,
    `create index sub_agent_running on sub_agent (root_conversation, depth) where state = 'running'`,
  ],
};

/** What models were used for, per day, person and group (G17); `group_id` is empty for direct chats. */
export const SPEND: Migration = {
  number: 16,
  name: 'spend',
  statements: () => [
    `create table spend (
      day text not null,
      person_id text not null,
      group_id text not null,
      input_tokens bigint not null,
      output_tokens bigint not null,
      cost_usd double precision not null,
      primary key (day, person_id, group_id)
    )`,
  ],
};

/** The list of a session (G12); a new session begins without one. The content is JSON. */
export const TODOS: Migration = {
  number: 17,
  name: 'to-dos',
  statements: () => [
    `create table todo_list (
      conversation_id text not null primary key references conversation (id),
      session bigint not null,
      content text not null,
      written_at bigint not null
    )`,
  ],
};

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

/** Versions of SOUL.md and proposals for them (W06); `findings` is JSON. */
export const SOUL_VERSIONS: Migration = {
  number: 20,
  name: 'soul versions',
  statements: () => [
    `create table soul (
      agent text not null primary key,
      next_number bigint not null
    )`,
    `create table soul_version (
      agent text not null references soul (agent),
      number bigint not null,
      asked_by text not null,
      text text not null,
      head text not null,
      author text not null,
      by_whom text,
      reason text not null,
      based_on bigint,
      diff text not null,
      score bigint,
      findings text not null default '[]',
      state text not null,
      untold bigint not null default 0,
      created_at bigint not null,
      judged_at bigint,
      applies_at bigint,
      applied_at bigint,
      decided_by text,
      primary key (agent, number),
      unique (agent, asked_by)
    )`,
    `create unique index soul_applied on soul_version (agent) where state = 'applied'`,
  ],
};

/**
 * Each turn counts which memories were of use and asks which were; neither reads all of them. Nor does
 * `/new` read all sub-agents there ever were.
 */
export const MEMORY_USES: Migration = {
  number: 21,
  name: 'uses of memories',
  statements: () => [
    'create index memory_entry_id on memory_entry (id)',
    'create index memory_entry_used on memory_entry (id, uses) where uses > 0',
    'create index sub_agent_root on sub_agent (root_conversation)',
  ],
};
