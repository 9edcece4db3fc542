import { type Migration, seq } from './migration.ts';

/**
 * What was owed to somebody and given up, one row for each time (D06). The index holds what is still open,
 * so that it stays small. Parts that were given up before are taken over; notices about them are not.
 */
export const DEAD_LETTERS: Migration = {
  number: 24,
  name: 'dead letters',
  statements: (dialect) => [
    `create table dead_letter (
      seq ${seq(dialect)},
      kind text not null,
      subject text not null,
      died_at bigint not null,
      settled text,
      settled_at bigint
    )`,
    'create index dead_letter_open on dead_letter (seq, kind) where settled is null',
    'create unique index dead_letter_subject on dead_letter (subject) where settled is null',
    `insert into dead_letter (kind, subject, died_at)
      select case state when 'failed' then 'refused' else 'uncertain' end, id, updated_at
      from outbox where state in ('failed', 'unknown') and notice_of is null
      order by updated_at, seq`,
  ],
};
