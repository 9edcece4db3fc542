import type { Migration } from './migration.ts';

/** What models were used for, per day, person and group (G17); `group_id` is empty for direct chats. */
export const SPEND: Migration = {
  number: 16,
  name: 'spend',
  statements: () => [
    `create table spend (
      day text not null,
      person_id text not null,
      group_id text not null,
      input_tokens bigint not null,
      output_tokens bigint not null,
      cost_usd double precision not null,
      primary key (day, person_id, group_id)
    )`,
  ],
};
