import type { Migration } from './migration.ts';

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
