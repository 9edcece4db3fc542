import type { Migration } from './migration.ts';

/** The list of a session (G12); a new session begins without one. The content is JSON. */
export const TODOS: Migration = {
  number: 17,
  name: 'to-dos',
  statements: () => [
    `create table todo_list (
      conversation_id text not null primary key references conversation (id),
      session bigint not null,
      content text not null,
      written_at bigint not null
    )`,
  ],
};
