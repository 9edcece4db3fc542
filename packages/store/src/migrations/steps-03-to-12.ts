import { type Migration, seq } from './migration.ts';

/**
 * What was said in served groups without addressing the bot (F06): waits for the next turn (`turn_id`
 * null), belongs to one while it runs, and is deleted with its commit.
 */
export const OVERHEARD: Migration = {
  number: 3,
  name: 'overheard',
  statements: (dialect) => [
    `create table overheard (
      seq ${seq(dialect)},
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
    'create index overheard_waiting on overheard (conversation_id, seq) where turn_id is null',
    'create index overheard_turn on overheard (turn_id, seq) where turn_id is not null',
  ],
};

/**
 * What came with messages. The bytes are the last column, since what stands behind a large value is
 * slow to read in SQLite.
 */
export const ATTACHMENTS: Migration = {
  number: 4,
  name: 'attachments',
  statements: (dialect) => [
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
      bytes ${dialect === 'sqlite' ? 'blob' : 'bytea'},
      primary key (inbox_seq, attachment_index)
    )`,
    `create index attachment_pending on attachment (channel, account, inbox_seq)
      where state = 'pending'`,
    'create index attachment_kept on attachment (updated_at) where bytes is not null',
  ],
};

/** What ingress knew when it took a message: whose it is, why it was taken, and when its burst is over. */
export const INGRESS_FACTS: Migration = {
  number: 5,
  name: 'ingress facts',
  statements: () => [
    'alter table inbox add column from_owner bigint not null default 0',
    'alter table inbox add column reason text',
    'alter table inbox add column settles_at bigint',
    'create index inbox_owner on inbox (seq) where from_owner = 1',
  ],
};

/** Strangers who ask to be let in, and those who were (F05). Of a stranger nothing but the name is kept. */
export const PAIRING: Migration = {
  number: 6,
  name: 'pairing',
  statements: () => [
    `create table pairing_request (
      code text not null primary key,
      channel text not null,
      account text not null,
      sender_id text not null,
      sender_name text not null,
      route text not null,
      expires_at bigint not null,
      unique (channel, account, sender_id)
    )`,
    `create table let_in (
      channel text not null,
      account text not null,
      sender_id text not null,
      let_in_at bigint not null,
      primary key (channel, account, sender_id)
    )`,
  ],
};

/** Why a message was not taken (D08); of what was taken the inbox itself tells. No text is kept. */
export const DECISIONS: Migration = {
  number: 7,
  name: 'decisions',
  statements: (dialect) => [
    `create table decision (
      seq ${seq(dialect)},
      channel text not null,
      account text not null,
      chat_id text not null,
      message_id text not null,
      sender_id text not null,
      outcome text not null,
      reason text not null,
      decided_at bigint not null,
      unique (channel, account, chat_id, message_id)
    )`,
    'create index decision_chat on decision (channel, account, chat_id, seq)',
  ],
};

/** Accounts of one person on several platforms (F13), and the codes by which they are linked. */
export const LINKS: Migration = {
  number: 8,
  name: 'links',
  statements: () => [
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
  ],
};

/** Parts that did not arrive are few: the history looks for them with every turn (D05). */
export const UNDELIVERED: Migration = {
  number: 9,
  name: 'undelivered parts',
  statements: () => [
    `create index outbox_undelivered on outbox (turn_id)
      where turn_id is not null and state in ('failed', 'unknown')`,
  ],
};

/** What must stay the same for as long as a session lasts (S07, P05); a session ends with `/new`. */
export const SESSION_PINS: Migration = {
  number: 10,
  name: 'session pins',
  statements: () => [
    `create table session_pin (
      conversation_id text not null references conversation (id),
      session bigint not null,
      pin_key text not null,
      content text not null,
      pinned_at bigint not null,
      primary key (conversation_id, session, pin_key)
    )`,
  ],
};

/**
 * The prompts of the last days (P17). A text that many turns share is stored once, under its hash;
 * `used_at` says how long it is needed, so that nobody has to count who refers to it.
 */
export const PROMPTS: Migration = {
  number: 11,
  name: 'prompts',
  statements: () => [
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
  ],
};

/**
 * Where memories stand and how often they were of use. The files hold their words and are the truth;
 * this can be made again from them at any time.
 */
export const MEMORY: Migration = {
  number: 12,
  name: 'memory',
  statements: () => [
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
  ],
};
