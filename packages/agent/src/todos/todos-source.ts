import type { ContextSource } from '@parley/prompt';
import type { TodoRepository } from '@parley/store';

/** Tells the model of its list for this conversation (G12), as long as something on it is to be done. */
export function todosSource(todos: Pick<TodoRepository, 'of'>): ContextSource {
  return {
    id: 'todos',
    async gather({ conversationId, session }) {
      const items = await todos.of({ conversationId, session });
      return items.some(({ state }) => state !== 'done') ? { todos: items } : {};
    },
  };
}
