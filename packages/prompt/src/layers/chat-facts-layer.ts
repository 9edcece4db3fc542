import type { Layer } from '../layer.ts';
import { chatLines, listed } from './runtime-lines.ts';

/** The half of the runtime facts that stays the same in a chat, and so may be cached (P09). */
export const chatFactsLayer: Layer = {
  id: 'chat-facts',
  volatility: 'session',
  placement: 'system',
  modes: ['full', 'minimal'],
  render(context, { heading = '## Runtime Facts' }) {
    const { conversationId } = context.reader;
    return {
      text: `${heading}\n${listed(chatLines(context))}`,
      source: 'runtime facts',
      audience: { kind: 'conversation', conversationId },
    };
  },
};
