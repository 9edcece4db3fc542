import type { Migration } from './migration.ts';

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
