import type { Migration } from './migration.ts';

/** Parts that did not arrive are few: the history looks for them with every turn (D05). */
export const UNDELIVERED: Migration = {
  number: 9,
  name: 'undelivered parts',
  statements: () => [
    `create index outbox_undelivered on outbox (turn_id)
      where turn_id is not null and state in ('failed', 'unknown')`,
  ],
};
