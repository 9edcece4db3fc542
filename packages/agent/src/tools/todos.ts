import { formatTodoList } from '@parley/core';
import type { ContextSource } from '@parley/prompt';
import type { TodoRepository } from '@parley/store';
import { z } from 'zod';
import { defineTool, type Tool } from './tool.ts';

/** Shows the model the to-do list of the conversation (G12) while it contains an open item. */
export function createTodosSource(todos: Pick<TodoRepository, 'of'>): ContextSource {
  return {
    id: 'todos',
    async gather({ conversationId, session }) {
      const items = await todos.of({ conversationId, session });
      return items.some(({ state }) => state !== 'done') ? { todos: items } : {};
    },
  };
}

/** The limit on items: longer lists do not help, and the list is in every prompt. */
const MAX_ITEMS = 30;
const MAX_ITEM = 200;

const Item = z.object({
  text: z.string().trim().min(1).max(MAX_ITEM).describe('One step.'),
  state: z.enum(['open', 'doing', 'done']),
});

/**
 * Maintains the to-do list of a session (G12). Each call replaces the whole list, and people see
 * the progress.
 */
export function createWriteTodosTool(todos: Pick<TodoRepository, 'replace'>): Tool {
  return defineTool({
    name: 'write_todos',
    summary: 'Replaces your to-do list for this conversation.',
    hint: 'Only for work of three or more steps, not for a quick question. Send the whole list each time, with at most one item `doing`, and mark each item as soon as it is done.',
    tier: 'middleware',
    group: 'tasks',
    effect: 'write',
    audience: 'everyone',
    approval: 'never',
    input: z.object({
      todos: z.array(Item).max(MAX_ITEMS).describe('In order; empty for no list.'),
    }),
    async run({ todos: items }, { reader, session, clock, show }) {
      await todos.replace({ conversationId: reader.conversationId, session }, items, clock());
      if (items.length > 0) show?.(formatTodoList(items));
      const left = items.filter(({ state }) => state !== 'done').length;
      return { text: `The list has ${items.length} items, ${left} of them not done.` };
    },
  });
}
