import { type Migration, seq } from './migrations/migration.ts';
import {
  ATTACHMENTS,
  DECISIONS,
  INGRESS_FACTS,
  LINKS,
  MEMORY,
  OVERHEARD,
  PAIRING,
  PROMPTS,
  SESSION_PINS,
  UNDELIVERED,
} from './migrations/steps-03-to-12.ts';
import {
  APPROVALS,
  CRON_JOBS,
  HEARTBEATS,
  MEMORY_USES,
  SOUL_VERSIONS,
  SPEND,
  SUB_AGENTS,
  SUMMARIES,
  TODOS,
} from './migrations/steps-13-to-21.ts';
import {
  DEAD_LETTERS,
  INTERRUPTIONS,
  LEASES,
  PAGE_SESSIONS,
  PLANS,
  PROCESS_FACTS,
  RETENTION,
  TIMELINE,
} from './migrations/steps-22-to-29.ts';

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
