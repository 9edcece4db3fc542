import type { Database } from '../database.ts';

/** The migration that adds the index, and the index by which the messages of a conversation are found. */
export function searchSchema(dialect: Database['dialect']): readonly string[] {
  const entries =
    dialect === 'sqlite'
      ? [
          // Without the texts themselves; the words come cut already, `ascii` only splits them at spaces.
          `create virtual table search_entry using fts5(
            words, content = '', contentless_delete = 1, tokenize = 'ascii')`,
        ]
      : [
          'create table search_entry (id bigint not null primary key, words tsvector not null)',
          'create index search_entry_words on search_entry using gin (words)',
        ];
  return [
    ...entries,
    'create table search_reach (source text not null primary key, seq bigint not null)',
    'create index inbox_conversation on inbox (conversation_id, seq)',
  ];
}
