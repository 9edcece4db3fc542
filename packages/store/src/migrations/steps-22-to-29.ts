import { type Migration, seq } from './migration.ts';

/**
 * Who holds what in a deployment of several processes, and which processes there are. A part says under
 * which lease it is being sent, so that nobody who lost the lease decides about it any more.
 */
export const LEASES: Migration = {
  number: 22,
  name: 'leases and processes',
  statements: () => [
    `create table lease (
      name text not null primary key,
      epoch bigint not null,
      owner text,
      lease_until bigint
    )`,
    `create table process (
      id text not null primary key,
      role text not null,
      host text not null,
      pid bigint not null,
      address text not null,
      version text not null,
      started_at bigint not null,
      seen_at bigint not null
    )`,
    'alter table outbox add column sender bigint',
  ],
};

/** How often the turn of a message was ended by a later one (D03): `/why` tells it, and it is bounded. */
export const INTERRUPTIONS: Migration = {
  number: 23,
  name: 'interruptions',
  statements: () => ['alter table inbox add column interruptions bigint not null default 0'],
};

/**
 * What was owed to somebody and given up, one row for each time (D06). The index holds what is still open,
 * so that it stays small. Parts that were given up before are taken over; notices about them are not.
 */
export const DEAD_LETTERS: Migration = {
  number: 24,
  name: 'dead letters',
  statements: (dialect) => [
    `create table dead_letter (
      seq ${seq(dialect)},
      kind text not null,
      subject text not null,
      died_at bigint not null,
      settled text,
      settled_at bigint
    )`,
    'create index dead_letter_open on dead_letter (seq, kind) where settled is null',
    'create unique index dead_letter_subject on dead_letter (subject) where settled is null',
    `insert into dead_letter (kind, subject, died_at)
      select case state when 'failed' then 'refused' else 'uncertain' end, id, updated_at
      from outbox where state in ('failed', 'unknown') and notice_of is null
      order by updated_at, seq`,
  ],
};

/**
 * When each stage of a message was reached (D08), written with what is written there anyway, and the
 * context of its trace where traces are on. No column holds words of people or arguments of tools.
 */
export const TIMELINE: Migration = {
  number: 25,
  name: 'timeline',
  statements: () => [
    'alter table inbox add column claimed_at bigint',
    'alter table inbox add column done_at bigint',
    'alter table inbox add column repeats bigint not null default 0',
    'alter table inbox add column trace text',
    'create index inbox_message on inbox (message_id)',
    'alter table decision add column sent_at bigint',
    'create index decision_message on decision (message_id)',
    'alter table turn add column runs text',
    'alter table turn_step add column started_at bigint',
    'alter table turn_step add column facts text',
    'alter table outbox add column tried_at bigint',
    'alter table outbox add column sending_at bigint',
    'alter table outbox add column sent_at bigint',
    'alter table outbox add column retries text',
    'alter table outbox add column answers bigint',
    'alter table outbox add column trace text',
    'create index outbox_answers on outbox (answers) where answers is not null',
    'create index dead_letter_of on dead_letter (subject, seq)',
  ],
};

/**
 * The plan that a conversation may run, once (G04): the turn that wrote it, and whether it was run. And
 * the conversation in which a question was put, which is the only one where it is decided (G05).
 */
export const PLANS: Migration = {
  number: 26,
  name: 'plans',
  statements: () => [
    'alter table conversation add column plan text',
    'alter table conversation add column plan_run bigint not null default 0',
    'alter table approval add column asked_in text',
    `update approval set asked_in = conversation_id where state = 'pending'`,
    `create index approval_asked on approval (asked_in, seq) where state = 'pending'`,
  ],
};

/** Browsers that are signed in to the page. Few rows; only the hash of each secret is stored. */
export const PAGE_SESSIONS: Migration = {
  number: 27,
  name: 'page sessions',
  statements: () => [
    `create table page_session (
      id text not null primary key,
      hash text not null,
      opened_with text not null,
      user_agent text not null,
      network text not null,
      created_at bigint not null,
      used_at bigint not null,
      expires_at bigint not null
    )`,
  ],
};

/**
 * Whoever removes a row looks for rows that refer to it: these had no index for that. And what the last round
 * of retention did (D15), one row.
 */
export const RETENTION: Migration = {
  number: 28,
  name: 'retention',
  statements: () => [
    'create index transcript_turn on transcript (turn_id)',
    'create index outbox_notice on outbox (notice_of) where notice_of is not null',
    'create index sub_agent_parent_turn on sub_agent (parent_turn)',
    'create index beat_turn on beat (turn_id) where turn_id is not null',
    `create table retention_run (
      id bigint not null primary key,
      ended_at bigint not null,
      took_ms bigint not null,
      removed bigint not null,
      cutoff bigint
    )`,
  ],
};

/** What a process says of its workspace, settings and clock, so that another one notices that they differ. */
export const PROCESS_FACTS: Migration = {
  number: 29,
  name: 'process facts',
  statements: () => ['alter table process add column facts text'],
};
