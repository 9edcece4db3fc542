import type { Migration } from './migration.ts';

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
