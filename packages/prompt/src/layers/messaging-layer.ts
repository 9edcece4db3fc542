import type { Layer } from '../layer.ts';

const HERE =
  'Your answer goes to the chat that the message came from, by itself; you cannot choose another.';
const ELSEWHERE =
  'To write somewhere else, use `message`; what you sent with it needs no second telling in your answer.';
const SYSTEM =
  'Messages marked ⚙️ come from Parley, not from a person. Put what they say in your own words where it matters.';

/** Where answers go. */
export const messagingLayer: Layer = {
  id: 'messaging',
  volatility: 'session',
  placement: 'system',
  render({ tools = [] }, { heading = '## Messaging' }) {
    const canWrite = tools.some(
      ({ name, placeholder }) => name === 'message' && placeholder !== true,
    );
    const lines = [HERE, ...(canWrite ? [ELSEWHERE] : []), SYSTEM].map((line) => `- ${line}`);
    const text = `${heading}\n${lines.join('\n')}`;
    return { text, source: 'Parley', audience: { kind: 'everyone' } };
  },
};
