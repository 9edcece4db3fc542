import type { Migration } from './migration.ts';

/**
 * Whoever removes a row looks for rows that refer to it: these had no index for that. And what the last round
 * of retention did (D15), one row.
 */
export const RETENTION: Migration = {
  number: 28,
  name: 'retention',
  statements: () => [
    'create index transcript_turn on transcript (turn_id)',
    'create index outbox_notice on outbox (notice_of) where notice_of is not null',
    'create index sub_agent_parent_turn on sub_agent (parent_turn)',
    'create index beat_turn on beat (turn_id) where turn_id is not null',
    `create table retention_run (
      id bigint not null primary key,
      ended_at bigint not null,
      took_ms bigint not null,
      removed bigint not null,
      cutoff bigint
    )`,
  ],
};
