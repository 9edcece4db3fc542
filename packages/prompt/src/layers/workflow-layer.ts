import { absent, type Layer } from '../layer.ts';
import { readContextFile } from './context-file.ts';

const TEXT = `1. Understand what is wanted, and for whom. Ask only when a wrong guess would cost time.
2. Quick question: answer it. Longer work: make a short plan, then take it step by step.
3. Check each result before you build on it.
4. Report what happened: what is done, what is not, what you suggest next.`;

/** How to work: the owner's own file where the layout names one and it exists, else a few plain steps. */
export const workflowLayer: Layer = {
  id: 'workflow',
  volatility: 'static',
  placement: 'system',
  modes: ['full', 'minimal'],
  async render(context, { heading = '## Workflow', files: [file] = [], characters }) {
    const own =
      file === undefined
        ? absent('the layout names no file')
        : await readContextFile(context, file, characters);
    if ('absent' in own) {
      return { text: `${heading}\n${TEXT}`, source: 'Parley', audience: { kind: 'everyone' } };
    }
    const { text, source, audience, cut } = own;
    return { text: `${heading}\n${text}`, source, audience, cut };
  },
};
