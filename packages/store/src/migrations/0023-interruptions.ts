import type { Migration } from './migration.ts';

/** How often the turn of a message was ended by a later one (D03): `/why` tells it, and it is bounded. */
export const INTERRUPTIONS: Migration = {
  number: 23,
  name: 'interruptions',
  statements: () => ['alter table inbox add column interruptions bigint not null default 0'],
};
