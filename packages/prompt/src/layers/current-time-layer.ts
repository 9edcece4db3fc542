import type { Layer } from '../layer.ts';

/** The agent's clock. */
export const currentTimeLayer: Layer = {
  id: 'current-time',
  volatility: 'turn',
  placement: 'system',
  modes: ['full', 'minimal'],
  render: ({ facts }, { heading = '## Current Time' }) => ({
    text: `${heading}\n${facts.date}, ${facts.time} (${facts.timeZone})`,
    source: 'clock',
    audience: { kind: 'everyone' },
  }),
};
