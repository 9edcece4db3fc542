/** The tables of the agent: prompts, memory, approvals, sub-agents, spend, schedules and SOUL.md. */
export const AGENT_TABLES: readonly string[] = [
  // What must stay the same as long as a session lasts (S07, P05).
  `create table session_pin (
    conversation_id text not null references conversation (id),
    session bigint not null,
    pin_key text not null,
    content text not null,
    pinned_at bigint not null,
    primary key (conversation_id, session, pin_key)
  )`,
  // Prompts of the last days (P17). A text that many turns share is stored once; `used_at` says how long it
  // is needed.
  `create table prompt_text (
    hash text not null primary key,
    content text not null,
    used_at bigint not null
  )`,
  'create index prompt_text_used on prompt_text (used_at)',
  `create table turn_prompt (
    turn_id text not null primary key,
    conversation_id text not null,
    chat_id text not null,
    created_at bigint not null,
    layout text not null,
    model text not null,
    characters bigint not null,
    tokens bigint not null,
    place text not null,
    message_ids text not null,
    parts text not null,
    unsent text not null,
    tools text not null,
    messages text not null
  )`,
  'create index turn_prompt_age on turn_prompt (created_at, turn_id)',
  'create index turn_prompt_chat on turn_prompt (chat_id, created_at, turn_id)',
  'create index turn_prompt_conversation on turn_prompt (conversation_id, created_at, turn_id)',
  // Where memories are and how often they were of use. The files are the truth.
  `create table memory_entry (
    file text not null,
    id text not null,
    type text not null,
    scope text not null,
    person text,
    words text not null,
    saved_on text,
    channel text,
    chat_id text,
    message_id text,
    uses bigint not null default 0,
    primary key (file, id)
  )`,
  'create index memory_entry_id on memory_entry (id)',
  'create index memory_entry_used on memory_entry (id, uses) where uses > 0',
  // The key lets each summary be written once (G11); a row without content is a claim.
  `create table summary (
    seq bigserial primary key,
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
  // `choices` (JSON) makes it a question of `ask_user`, which the person of `asked_by` answers with `answer`. `approvers` has one per line. `asked_in` is the conversation in which the question was put, where it is decided, if not on the page (G05). `rule` would allow such calls for good.
  `create table approval (
    seq bigserial primary key,
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
    asked_in text,
    rule text,
    choices text,
    answer text,
    unique (turn_id, call_key)
  )`,
  `create index approval_open on approval (conversation_id, seq) where state = 'pending'`,
  `create index approval_due on approval (expires_at) where state = 'pending'`,
  `create index approval_asked on approval (asked_in, seq) where state = 'pending'`,
  // Runs of sub-agents (G07); `origin` and `route` say which message they work for. Their lanes, turns and journals are rows like all others.
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
  `create index sub_agent_running on sub_agent (root_conversation, depth)
    where state = 'running'`,
  'create index sub_agent_root on sub_agent (root_conversation)',
  'create index sub_agent_parent_turn on sub_agent (parent_turn)',
  // What models were used for, per day, person and group (G17); `group_id` is empty for direct chats.
  `create table spend (
    day text not null,
    person_id text not null,
    group_id text not null,
    input_tokens bigint not null,
    output_tokens bigint not null,
    cost_usd double precision not null,
    primary key (day, person_id, group_id)
  )`,
  // The list of a session (G12).
  `create table todo_list (
    conversation_id text not null primary key references conversation (id),
    session bigint not null,
    content text not null,
    written_at bigint not null
  )`,
  // When the heartbeat of each agent is due, and its runs (H01–H05); `entry` and `parts`
  // are JSON and there while an alert is held.
  `create table heartbeat (
    agent text not null primary key,
    every_ms bigint not null,
    next_at bigint not null,
    last_at bigint,
    last_reason text
  )`,
  `create table heartbeat_run (
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
  `create unique index heartbeat_run_running on heartbeat_run (agent) where state = 'running'`,
  `create index heartbeat_run_held on heartbeat_run (held_until) where state = 'held'`,
  'create index heartbeat_run_task on heartbeat_run (agent, task, started_at)',
  'create index heartbeat_run_started on heartbeat_run (agent, started_at)',
  `create index heartbeat_run_alert on heartbeat_run (agent, fingerprint, started_at)
    where fingerprint is not null`,
  'create index heartbeat_run_turn on heartbeat_run (turn_id) where turn_id is not null',
  // Jobs with a timetable (H08); `last_message` is the id of the message that their last run began with.
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
  // Versions of SOUL.md and proposals for them (W06).
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
    unnotified bigint not null default 0,
    created_at bigint not null,
    judged_at bigint,
    applies_at bigint,
    applied_at bigint,
    decided_by text,
    primary key (agent, number),
    unique (agent, asked_by)
  )`,
  `create unique index soul_applied on soul_version (agent) where state = 'applied'`,
];
