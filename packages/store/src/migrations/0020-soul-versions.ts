import type { Migration } from './migration.ts';

/** Versions of SOUL.md and proposals for them (W06); `findings` is JSON. */
export const SOUL_VERSIONS: Migration = {
  number: 20,
  name: 'soul versions',
  statements: () => [
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
      untold bigint not null default 0,
      created_at bigint not null,
      judged_at bigint,
      applies_at bigint,
      applied_at bigint,
      decided_by text,
      primary key (agent, number),
      unique (agent, asked_by)
    )`,
    `create unique index soul_applied on soul_version (agent) where state = 'applied'`,
  ],
};
