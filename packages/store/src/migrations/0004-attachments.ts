import type { Migration } from './migration.ts';

/**
 * What came with messages. The bytes are the last column, since what stands behind a large value is
 * slow to read in SQLite.
 */
export const ATTACHMENTS: Migration = {
  number: 4,
  name: 'attachments',
  statements: (dialect) => [
    `create table attachment (
      inbox_seq bigint not null references inbox (seq) on delete cascade,
      attachment_index bigint not null,
      channel text not null,
      account text not null,
      kind text not null,
      name text,
      mime_type text,
      size bigint,
      ref text not null,
      state text not null,
      reason text,
      attempts bigint not null default 0,
      not_before bigint not null,
      text text,
      created_at bigint not null,
      updated_at bigint not null,
      bytes ${dialect === 'sqlite' ? 'blob' : 'bytea'},
      primary key (inbox_seq, attachment_index)
    )`,
    `create index attachment_pending on attachment (channel, account, inbox_seq)
      where state = 'pending'`,
    'create index attachment_kept on attachment (updated_at) where bytes is not null',
  ],
};
