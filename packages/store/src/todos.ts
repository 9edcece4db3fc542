import { z } from 'zod';
import { type Database, fromCheckedJson, statement, toJson } from './database.ts';
import type { PinPlace } from './pins.ts';

/** One item of a list. */
export type TodoItem = Readonly<z.infer<typeof TodoItem>>;

export const TodoItem = z.object({ text: z.string(), state: z.enum(['open', 'doing', 'done']) });

const Items = z.array(TodoItem);

/** The to-dos of sessions (G12), table `todo_list`; a conversation has one list, that of its newest session. */
export type TodoRepository = ReturnType<typeof todoRepository>;

/** The table `todo_list`. */
export function todoRepository(database: Database) {
  const items = (row: { readonly content: string } | undefined): readonly TodoItem[] =>
    row === undefined ? [] : fromCheckedJson(Items, row.content, 'list of to-dos');
  return {
    /** Puts `items` in the place of what was there. An earlier session does not replace a later one's. */
    async replace(
      { conversationId, session }: PinPlace,
      items: readonly TodoItem[],
      now: number,
    ): Promise<void> {
      const list = { conversationId, session, content: toJson(items), now };
      await database.change('power-cut', REPLACE, list);
    },
    /** The list of that session, empty where it has none. */
    of: async ({ conversationId, session }: PinPlace) =>
      items(await database.read((sql) => sql.get(OF_SESSION, { conversationId, session }))),
    /** That of the session a conversation is in now; empty where it has none. */
    now: async (conversationId: string) =>
      items(await database.read((sql) => sql.get(NOW, { conversationId }))),
  };
}

const REPLACE = statement(`
  insert into todo_list (conversation_id, session, content, written_at)
  values (:conversationId, :session, :content, :now)
  on conflict (conversation_id) do update
    set session = excluded.session, content = excluded.content, written_at = excluded.written_at
    where todo_list.session <= excluded.session`);

const OF_SESSION = statement(
  'select content from todo_list where conversation_id = :conversationId and session = :session',
).rows<{ readonly content: string }>();

const NOW = statement(`
  select content from todo_list join conversation on conversation.id = todo_list.conversation_id
  where conversation_id = :conversationId and todo_list.session = conversation.session`).rows<{
  readonly content: string;
}>();
