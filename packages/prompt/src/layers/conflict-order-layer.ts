import { absent, type Layer } from '../layer.ts';
import { readContextFile } from './context-file.ts';

const FILES = ['AGENTS.md', 'USER.md', 'SOUL.md', 'IDENTITY.md'];
const ORDER = ['Safety', ...FILES].join(' > ');

/** Which file counts where two disagree (P08). */
export const conflictOrderLayer: Layer = {
  id: 'conflict-order',
  volatility: 'static',
  placement: 'system',
  modes: ['full', 'minimal'],
  reads: FILES,
  async render(context, { heading = '## Conflict Order' }) {
    for (const file of FILES) {
      const found = await readContextFile(context, file);
      if ('absent' in found) continue;
      const text = `${heading}\nWhere two of these disagree, the earlier one counts: ${ORDER}`;
      return { text, source: 'Parley', audience: { kind: 'everyone' } };
    }
    return absent('there are no files to disagree');
  },
};
