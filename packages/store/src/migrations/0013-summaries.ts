import { type Migration, seq } from './migration.ts';

/**
 * Summaries of conversations (G11). The key lets each be written once, whoever comes first; a row without
 * content is a claim. The index finds what was said on one day.
 */
export const SUMMARIES: Migration = {
  number: 13,
  name: 'summaries',
  statements: (dialect) => [
    `create table summary (
      seq ${seq(dialect)},
      conversation_id text not null references conversation (id),
      session bigint not null,
      reader text not null,
      kind text not null,
      mark text not null,
      reaches bigint,
      content text,
      claimed_by text,
      claimed_until bigint not null,
      created_at bigint not null,
      unique (conversation_id, session, reader, kind, mark)
    )`,
    'create index transcript_said on transcript (conversation_id, session, created_at)',
  ],
};
