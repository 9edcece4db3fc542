import { OVERHEARD } from './migrations/0003-overheard.ts';
import { ATTACHMENTS } from './migrations/0004-attachments.ts';
import { INGRESS_FACTS } from './migrations/0005-ingress-facts.ts';
import { PAIRING } from './migrations/0006-pairing.ts';
import { DECISIONS } from './migrations/0007-decisions.ts';
import { LINKS } from './migrations/0008-links.ts';
import { UNDELIVERED } from './migrations/0009-undelivered.ts';
import { SESSION_PINS } from './migrations/0010-session-pins.ts';
import { PROMPTS } from './migrations/0011-prompts.ts';
import { MEMORY } from './migrations/0012-memory.ts';
import { SUMMARIES } from './migrations/0013-summaries.ts';
import { APPROVALS } from './migrations/0014-approvals.ts';
import { SUB_AGENTS } from './migrations/0015-sub-agents.ts';
import { SPEND } from './migrations/0016-spend.ts';
import { TODOS } from './migrations/0017-todos.ts';
import { HEARTBEATS } from './migrations/0018-heartbeats.ts';
import { CRON_JOBS } from './migrations/0019-cron-jobs.ts';
import { SOUL_VERSIONS } from './migrations/0020-soul-versions.ts';
import { MEMORY_USES } from './migrations/0021-memory-uses.ts';
import { LEASES } from './migrations/0022-leases.ts';
import { INTERRUPTIONS } from './migrations/0023-interruptions.ts';
import { DEAD_LETTERS } from './migrations/0024-dead-letters.ts';
import { TIMELINE } from './migrations/0025-timeline.ts';
import { PLANS } from './migrations/0026-plans.ts';
import { PAGE_SESSIONS } from './migrations/0027-page-sessions.ts';
import { RETENTION } from './migrations/0028-retention.ts';
import { PROCESS_FACTS } from './migrations/0029-process-facts.ts';
import { type Migration, seq } from './migrations/migration.ts';

export type { Migration } from './migrations/migration.ts';

/**
 * Inbox, lane, turn and outbox. A partial index covers exactly the rows that are still to be
 * worked on, so that it stays small however long the history grows.
 */
const DURABLE_PATH: Migration = {
  number: 1,
  name: 'durable path',
  statements: (dialect) => [
    `create table conversation (
      id text not null primary key,
      epoch bigint not null default 0,
      session bigint not null default 0,
      lease_owner text,
      lease_until bigint,
      created_at bigint not null
    )`,
    `create table turn (
      id text not null primary key,
      conversation_id text not null references conversation (id),
      session bigint not null,
      state text not null,
      attempts bigint not null,
      reason text,
      model text,
      input_tokens bigint,
      output_tokens bigint,
      cost_usd double precision,
      started_at bigint not null,
      finished_at bigint
    )`,
    `create unique index turn_running on turn (conversation_id) where state = 'running'`,
    'create index turn_finished on turn (finished_at)',
    `create table turn_step (
      turn_id text not null references turn (id),
      step_index bigint not null,
      content text not null,
      created_at bigint not null,
      primary key (turn_id, step_index)
    )`,
    `create table inbox (
      seq ${seq(dialect)},
      conversation_id text not null references conversation (id),
      channel text not null,
      account text not null,
      chat_id text not null,
      message_id text not null,
      message text not null,
      route text not null,
      received_at bigint not null,
      state text not null,
      turn_id text references turn (id),
      outcome text,
      unique (channel, account, chat_id, message_id)
    )`,
    `create index inbox_waiting on inbox (conversation_id, seq) where state = 'waiting'`,
    'create index inbox_turn on inbox (turn_id, seq) where turn_id is not null',
    'create index inbox_chat on inbox (channel, account, chat_id, seq)',
    `create table transcript (
      seq ${seq(dialect)},
      conversation_id text not null references conversation (id),
      session bigint not null,
      turn_id text not null references turn (id),
      role text not null,
      content text not null,
      created_at bigint not null
    )`,
    'create index transcript_session on transcript (conversation_id, session, seq)',
    `create table outbox (
      seq ${seq(dialect)},
      id text not null unique,
      idempotency_key text not null unique,
      turn_id text references turn (id),
      part_index bigint,
      notice_of text references outbox (id),
      channel text not null,
      account text not null,
      chat_id text not null,
      route text not null,
      body text not null,
      state text not null,
      attempts bigint not null default 0,
      not_before bigint not null,
      error text,
      platform_message_id text,
      created_at bigint not null,
      updated_at bigint not null
    )`,
    'create unique index outbox_turn_part on outbox (turn_id, part_index) where turn_id is not null',
    `create index outbox_unfinished on outbox (channel, account, chat_id, seq)
      where state in ('pending', 'sending')`,
    'create index outbox_chat on outbox (channel, account, chat_id, seq)',
    'create index outbox_state on outbox (state)',
  ],
};

/** What adapters remember between starts, such as WhatsApp's session keys. */
const ADAPTER_VALUES: Migration = {
  number: 2,
  name: 'adapter values',
  statements: () => [
    `create table adapter_value (
      channel text not null,
      account text not null,
      kind text not null,
      id text not null,
      value text not null,
      primary key (channel, account, kind, id)
    )`,
  ],
};

/** All steps, in the order in which they are applied. */
export const MIGRATIONS: readonly Migration[] = [
  DURABLE_PATH,
  ADAPTER_VALUES,
  OVERHEARD,
  ATTACHMENTS,
  INGRESS_FACTS,
  PAIRING,
  DECISIONS,
  LINKS,
  UNDELIVERED,
  SESSION_PINS,
  PROMPTS,
  MEMORY,
  SUMMARIES,
  APPROVALS,
  SUB_AGENTS,
  SPEND,
  TODOS,
  HEARTBEATS,
  CRON_JOBS,
  SOUL_VERSIONS,
  MEMORY_USES,
  LEASES,
  INTERRUPTIONS,
  DEAD_LETTERS,
  TIMELINE,
  PLANS,
  PAGE_SESSIONS,
  RETENTION,
  PROCESS_FACTS,
];
