import { absent, type Layer } from '../layer.ts';

/** What needs a yes first, and who gives it (G05). */
export const approvalsLayer: Layer = {
  id: 'approvals',
  volatility: 'session',
  placement: 'system',
  modes: ['full', 'minimal'],
  render({ approvals }, { heading = '## Approvals' }) {
    if (approvals === undefined) return absent('nothing needs an approval');
    return { ...approvals, text: `${heading}\n${approvals.text}` };
  },
};
