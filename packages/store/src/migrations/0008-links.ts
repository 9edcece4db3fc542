import type { Migration } from './migration.ts';

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
