import type { Migration } from './migration.ts';

/**
 * Who holds what in a deployment of several processes, and which processes there are. A part says under
 * which lease it is being sent, so that nobody who lost the lease decides about it any more.
 */
export const LEASES: Migration = {
  number: 22,
  name: 'leases and processes',
  statements: () => [
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
      seen_at bigint not null
    )`,
    'alter table outbox add column sender bigint',
  ],
};
