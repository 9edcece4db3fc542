import type { Migration } from './migration.ts';

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
