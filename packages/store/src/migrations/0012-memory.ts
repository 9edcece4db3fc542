import type { Migration } from './migration.ts';

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
