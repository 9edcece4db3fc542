import type { Layer } from '../layer.ts';
import { chatLines, listed, turnLines } from './runtime-lines.ts';

/** Where, when and for whom the turn runs (F02), in one section; lines that change least come first. */
export const runtimeFactsLayer: Layer = {
  id: 'runtime-facts',
  volatility: 'turn',
  placement: 'system',
  modes: ['full', 'minimal'],
  render(context, { heading = '## Runtime Facts' }) {
    const text = `${heading}\n${listed([...chatLines(context), ...turnLines(context)])}`;
    const { conversationId } = context.reader;
    return { text, source: 'runtime facts', audience: { kind: 'conversation', conversationId } };
  },
};
