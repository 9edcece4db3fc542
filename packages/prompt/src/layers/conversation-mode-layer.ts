import { absent, type Layer } from '../layer.ts';
import type { PromptFeatures } from '../prompt-features.ts';

const TEXTS: Readonly<Record<NonNullable<PromptFeatures['conversationMode']>, string>> = {
  agent:
    'You are in agent mode: use your tools and finish the job. What needs a yes first waits for it.',
  ask: 'You are in ask mode: look, think and answer, but change nothing. Tools that would change something only explain themselves here. When one is needed, say what you would do, and that `/mode agent` lets you do it.',
  plan: 'You are in plan mode: find out what you need without changing anything, then write a plan with the goal, the steps and the risks. End by asking whether to run it; `/run` does that.',
};

/** How freely the agent acts in this conversation (G04). */
export const conversationModeLayer: Layer = {
  id: 'conversation-mode',
  volatility: 'session',
  placement: 'system',
  modes: ['full', 'minimal'],
  render({ conversationMode }, { heading = '## Mode' }) {
    if (conversationMode === undefined) return absent('this conversation has no mode');
    const text = `${heading}\n${TEXTS[conversationMode]}`;
    return { text, source: `mode ${conversationMode}`, audience: { kind: 'everyone' } };
  },
};
