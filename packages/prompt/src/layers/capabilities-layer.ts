import { absent, type Layer } from '../layer.ts';

/** What the agent can and cannot do in this chat, so that it promises nothing else. */
export const capabilitiesLayer: Layer = {
  id: 'capabilities',
  volatility: 'session',
  placement: 'system',
  render({ capabilities = '' }) {
    if (capabilities.trim() === '') return absent('nothing to say about tools');
    const text = `## What you can do here\n${capabilities.trim()}`;
    return { text, source: 'agent', audience: { kind: 'everyone' } };
  },
};
