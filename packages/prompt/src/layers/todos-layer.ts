import { absent, type Layer } from '../layer.ts';
import type { TodoNote } from '../prompt-features.ts';
import { countOf } from './count-of.ts';
import { listItem } from './quoted-block.ts';

const SIGNS: Readonly<Record<TodoNote['state'], string>> = {
  open: '[ ]',
  doing: '[~]',
  done: '[x]',
};

/** The session's own list (G12). */
export const todosLayer: Layer = {
  id: 'todos',
  volatility: 'turn',
  placement: 'system',
  modes: ['full', 'minimal'],
  render({ todos = [], reader }, { heading = '## To-dos' }) {
    if (todos.length === 0) return absent('there is no list');
    const { conversationId } = reader;
    const lines = todos.map(({ text, state }) => listItem(`${SIGNS[state]} ${text}`));
    return {
      text: [heading, 'Your list for this conversation; keep it true.', ...lines].join('\n'),
      source: countOf(todos.length, 'to-do'),
      audience: { kind: 'conversation', conversationId },
    };
  },
};
