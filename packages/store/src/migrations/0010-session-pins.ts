import type { Migration } from './migration.ts';

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
