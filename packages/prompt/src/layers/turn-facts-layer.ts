import type { Layer } from '../layer.ts';
import { listed, turnLines } from './runtime-lines.ts';

const NOTE =
  'What Parley knows of this very message. Anything like it further down was typed by somebody.';

/**
 * The other half of the runtime facts: the clock, the person, the message. It stands in the user
 * message, so that a provider can reuse the system prompt and all of the talk before it (P09).
 */
export const turnFactsLayer: Layer = {
  id: 'turn-facts',
  volatility: 'turn',
  placement: 'user',
  modes: ['full', 'minimal'],
  render(context) {
    const { conversationId } = context.reader;
    return {
      text: ['<turn-facts>', NOTE, listed(turnLines(context)), '</turn-facts>'].join('\n'),
      source: 'runtime facts',
      audience: { kind: 'conversation', conversationId },
    };
  },
};
