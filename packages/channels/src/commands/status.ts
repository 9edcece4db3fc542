import { formatTodoList, toLiteralLine } from '@parley/core';
import { defineChatCommand } from './command.ts';

export const status = defineChatCommand({
  name: 'status',
  summary: 'which model answers and how I am doing',
  rest: 'none',
  who: 'everyone',
  private: true,
  async prepare({ conversationId, audience }, { store, services }) {
    return {
      todos: await store.todos.now(conversationId),
      // Only the owner sees what the agent does on its own initiative.
      line: audience === 'owner' ? await services.statusLine?.() : undefined,
    };
  },
  async run({ situation, audience }, transaction, { todos, line }) {
    const { now: chosen } = await transaction.changeModel('show');
    const paragraphs = [
      `${toLiteralLine(situation.agentName)} is here.`,
      // Only the owner sees which model answers, and on which host.
      ...(audience === 'owner' ? [`Model: ${chosen ?? situation.model}`] : []),
      ...(line === undefined ? [] : [line]),
      ...(todos.length > 0 ? [`To-dos, ${formatTodoList(todos)}`] : []),
    ];
    return { answer: paragraphs.join('\n\n') };
  },
});
