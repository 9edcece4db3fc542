import { z } from 'zod';
import type { Database } from '../database.ts';
import { fromCheckedJson, toJson } from '../json-column.ts';
import type { TodoRepository } from '../todos.ts';

const Items = z.array(z.object({ text: z.string(), state: z.enum(['open', 'doing', 'done']) }));

/** Lists on SQL. */
export function todoRepository(database: Database): TodoRepository {
  return {
    async replace({ conversationId, session }, items, now) {
      const row = { session, content: toJson(items), written_at: now };
      await database.write((sql) =>
        sql
          .insertInto('todo_list')
          .values({ conversation_id: conversationId, ...row })
          .onConflict((conflict) =>
            conflict
              .column('conversation_id')
              .doUpdateSet(row)
              .where('todo_list.session', '<=', session),
          )
          .execute(),
      );
    },

    of: ({ conversationId, session }) =>
      database.read(async (sql) => {
        const row = await sql
          .selectFrom('todo_list')
          .select('content')
          .where('conversation_id', '=', conversationId)
          .where('session', '=', session)
          .executeTakeFirst();
        return row === undefined ? [] : fromCheckedJson(Items, row.content, 'list of to-dos');
      }),

    now: (conversationId) =>
      database.read(async (sql) => {
        const row = await sql
          .selectFrom('todo_list')
          .innerJoin('conversation', 'conversation.id', 'todo_list.conversation_id')
          .select('content')
          .where('conversation_id', '=', conversationId)
          .whereRef('todo_list.session', '=', 'conversation.session')
          .executeTakeFirst();
        return row === undefined ? [] : fromCheckedJson(Items, row.content, 'list of to-dos');
      }),
  };
}
