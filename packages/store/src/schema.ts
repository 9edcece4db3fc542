import { AGENT_TABLES } from './agent-schema.ts';
import type { Database } from './database.ts';

/** The statements that make all tables and indexes. */
export function schema(dialect: Database['dialect']): readonly string[] {
  if (dialect === 'postgres') return SCHEMA;
  return SCHEMA.map((text) =>
    text
      .replace('bigserial primary key', 'integer primary key autoincrement')
      .replace('bytea', 'blob'),
  );
}

/** As PostgreSQL takes them. A table that others refer to comes before them; `seq` is never used twice. */
const SCHEMA: readonly string[] = [
  `create table conversation (
    id text not null primary key,
    epoch bigint not null default 0,
    session bigint not null default 0,
    lease_owner text,
    lease_until bigint,
    created_at bigint not null,
    mode text not null default 'agent',
    mode_since bigint not null default 0,
    plan text,
    plan_run bigint not null default 0,
    model text
  )`,
  // A suspended turn stays `running` and says in `awaits` what it waits for, so that whatever ends or counts
  // unfinished turns sees it. `attempts` says how often it was started, `runs` (JSON) when and by which worker. For
  // usage (U07): `person_id` wrote its newest message, `asked_at` is when the first one of a person was accepted,
  // `cached_tokens` are those of `input_tokens` that the provider had in its cache.
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
    finished_at bigint,
    awaits text,
    runs text,
    person_id text,
    asked_at bigint,
    cached_tokens bigint
  )`,
  `create unique index turn_running on turn (conversation_id) where state = 'running'`,
  'create index turn_finished on turn (finished_at)',
  `create table turn_step (
    turn_id text not null references turn (id),
    step_index bigint not null,
    content text not null,
    created_at bigint not null,
    started_at bigint,
    facts text,
    primary key (turn_id, step_index)
  )`,
  // `message` and `route` are JSON. `from_owner` is 1 where an owner wrote it in a direct chat, and no turn takes
  // it before `settles_at`. `claimed_at`, `done_at` (set aside or withdrawn), `repeats` (sent again by the platform)
  // and `interruptions` are for `/why`; `trace` is the context of its trace.
  `create table inbox (
    seq bigserial primary key,
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
    from_owner bigint not null default 0,
    reason text,
    settles_at bigint,
    interruptions bigint not null default 0,
    claimed_at bigint,
    done_at bigint,
    repeats bigint not null default 0,
    trace text,
    unique (channel, account, chat_id, message_id)
  )`,
  `create index inbox_waiting on inbox (conversation_id, seq) where state = 'waiting'`,
  'create index inbox_turn on inbox (turn_id, seq) where turn_id is not null',
  'create index inbox_chat on inbox (channel, account, chat_id, seq)',
  'create index inbox_owner on inbox (seq) where from_owner = 1',
  'create index inbox_message on inbox (message_id)',
  `create table transcript (
    seq bigserial primary key,
    conversation_id text not null references conversation (id),
    session bigint not null,
    turn_id text not null references turn (id),
    role text not null,
    content text not null,
    created_at bigint not null
  )`,
  'create index transcript_session on transcript (conversation_id, session, seq)',
  'create index transcript_said on transcript (conversation_id, session, created_at)',
  'create index transcript_turn on transcript (turn_id)',
  // `route` and `body` are JSON. `notice_of` is the part whose fate this one reports, `answers` the message (its
  // `seq`) that it answers where no turn does, `sender` the epoch of the account's lease under which it is being
  // sent. `tried_at` is when it was first given to the platform, `sending_at` when last; `retries` has a line for
  // each time it was put off. A part that is sent once more takes a new `seq`.
  `create table outbox (
    seq bigserial primary key,
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
    updated_at bigint not null,
    sender bigint,
    tried_at bigint,
    sending_at bigint,
    sent_at bigint,
    retries text,
    answers bigint,
    trace text
  )`,
  `create unique index outbox_turn_part on outbox (turn_id, part_index)
    where turn_id is not null`,
  `create index outbox_unfinished on outbox (channel, account, chat_id, seq)
    where state in ('pending', 'sending')`,
  'create index outbox_chat on outbox (channel, account, chat_id, seq)',
  'create index outbox_state on outbox (state)',
  `create index outbox_undelivered on outbox (turn_id)
    where turn_id is not null and state in ('failed', 'unknown')`,
  'create index outbox_answers on outbox (answers) where answers is not null',
  'create index outbox_notice on outbox (notice_of) where notice_of is not null',
  // What adapters remember between starts, such as WhatsApp's session keys.
  `create table account_pause (
    channel text not null,
    account text not null,
    paused_by text not null,
    since bigint not null,
    primary key (channel, account)
  )`,
  `create table seen_group (
    channel text not null,
    account text not null,
    chat_id text not null,
    title text,
    seen_at bigint not null,
    primary key (channel, account, chat_id)
  )`,
  `create table adapter_value (
    channel text not null,
    account text not null,
    kind text not null,
    id text not null,
    value text not null,
    primary key (channel, account, kind, id)
  )`,
  // Group context (F06): waits for the next turn (`turn_id` null), belongs to one while it runs, is deleted
  // with its commit.
  `create table group_context (
    seq bigserial primary key,
    conversation_id text not null references conversation (id),
    channel text not null,
    account text not null,
    chat_id text not null,
    message_id text not null,
    sender_id text not null,
    sender_name text not null,
    text text not null,
    heard_at bigint not null,
    turn_id text references turn (id),
    unique (channel, account, chat_id, message_id)
  )`,
  'create index group_context_waiting on group_context (conversation_id, seq) where turn_id is null',
  'create index group_context_turn on group_context (turn_id, seq) where turn_id is not null',
  // The bytes are the last column: what follows a large value is slow to read in SQLite.
  `create table attachment (
    inbox_seq bigint not null references inbox (seq) on delete cascade,
    attachment_index bigint not null,
    channel text not null,
    account text not null,
    kind text not null,
    name text,
    mime_type text,
    size bigint,
    ref text not null,
    state text not null,
    reason text,
    attempts bigint not null default 0,
    not_before bigint not null,
    text text,
    created_at bigint not null,
    updated_at bigint not null,
    bytes bytea,
    primary key (inbox_seq, attachment_index)
  )`,
  `create index attachment_pending on attachment (channel, account, inbox_seq)
    where state = 'pending'`,
  'create index attachment_kept on attachment (updated_at) where bytes is not null',
  // Bytes that the agent sends (`part_id`), or that a tool has given it (`turn_id`).
  `create table agent_file (
    id text not null primary key,
    part_id text references outbox (id) on delete cascade,
    turn_id text references turn (id) on delete cascade,
    kind text not null,
    name text not null,
    mime_type text not null,
    size bigint not null,
    bytes bytea,
    created_at bigint not null
  )`,
  'create index agent_file_part on agent_file (part_id) where part_id is not null',
  'create index agent_file_turn on agent_file (turn_id) where turn_id is not null',
  'create index agent_file_kept on agent_file (created_at) where bytes is not null',
  // Strangers who ask for access (F05). Nothing but the name is kept of them.
  `create table pairing_request (
    code text not null primary key,
    channel text not null,
    account text not null,
    sender_id text not null,
    sender_name text not null,
    route text not null,
    expires_at bigint not null,
    refused bigint not null default 0,
    unique (channel, account, sender_id)
  )`,
  `create table allowed_sender (
    channel text not null,
    account text not null,
    sender_id text not null,
    allowed_at bigint not null,
    primary key (channel, account, sender_id)
  )`,
  // Why a message was not taken (D08). No text is kept.
  `create table decision (
    seq bigserial primary key,
    channel text not null,
    account text not null,
    chat_id text not null,
    message_id text not null,
    sender_id text not null,
    outcome text not null,
    reason text not null,
    decided_at bigint not null,
    sent_at bigint,
    unique (channel, account, chat_id, message_id)
  )`,
  'create index decision_chat on decision (channel, account, chat_id, seq)',
  'create index decision_message on decision (message_id)',
  // Accounts of one person on several platforms (F13), and the codes by which they are linked.
  `create table person_link (
    person_id text not null primary key,
    link_id text not null,
    by_owner bigint not null,
    linked_at bigint not null
  )`,
  'create index person_link_members on person_link (link_id)',
  `create table link_code (
    code text not null primary key,
    maker_id text not null unique,
    maker_route text not null,
    maker_is_owner bigint not null,
    typist_id text,
    typist_route text,
    expires_at bigint not null
  )`,
  // Who holds what in a deployment of several processes, and which processes there are. A free lease has no
  // owner; its row stays for its epoch.
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
    seen_at bigint not null,
    facts text
  )`,
  // What was given up, one row for each time (D06); `subject` is the id of a part or of a turn.
  `create table dead_letter (
    seq bigserial primary key,
    kind text not null,
    subject text not null,
    died_at bigint not null,
    settled text,
    settled_at bigint
  )`,
  'create index dead_letter_open on dead_letter (seq, kind) where settled is null',
  'create unique index dead_letter_subject on dead_letter (subject) where settled is null',
  'create index dead_letter_of on dead_letter (subject, seq)',
  // Browsers that are signed in to the page; only the hash of each secret is stored.
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
  // People besides the owner who may use the page and the API; only the hash of each token is stored.
  `create table sign_in (
    id text not null primary key,
    hash text not null unique,
    name text not null unique,
    role text not null,
    created_at bigint not null,
    used_at bigint
  )`,
  // What the last round of retention did (D15), one row.
  `create table retention_run (
    id bigint not null primary key,
    ended_at bigint not null,
    took_ms bigint not null,
    removed bigint not null,
    cutoff bigint
  )`,
  ...AGENT_TABLES,
];
