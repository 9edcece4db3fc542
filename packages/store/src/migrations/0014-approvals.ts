import { type Migration, seq } from './migration.ts';

/**
 * Modes (G04) and approvals (G05). A suspended turn stays `running` and says what it awaits, so that
 * everything which ends or counts unfinished turns goes on to see it.
 */
export const APPROVALS: Migration = {
  number: 14,
  name: 'modes and approvals',
  statements: (dialect) => [
    `alter table conversation add column mode text not null default 'agent'`,
    'alter table conversation add column mode_since bigint not null default 0',
    'alter table turn add column awaits text',
    `create table approval (
      seq ${seq(dialect)},
      code text not null unique,
      conversation_id text not null references conversation (id),
      turn_id text not null references turn (id),
      call_key text not null,
      tool text not null,
      shown text not null,
      asked_by text not null,
      place text not null,
      approvers text not null,
      state text not null,
      asked_at bigint not null,
      expires_at bigint not null,
      decided_by text,
      decided_at bigint,
      result text,
      unique (turn_id, call_key)
    )`,
    `create index approval_open on approval (conversation_id, seq) where state = 'pending'`,
    `create index approval_due on approval (expires_at) where state = 'pending'`,
  ],
};
