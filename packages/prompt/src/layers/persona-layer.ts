import { absent, type Layer } from '../layer.ts';
import { readContextFile } from './context-file.ts';

/** Whom the agent plays (P14); where nobody was chosen, the file that the layout names in its place. */
export const personaLayer: Layer = {
  id: 'persona',
  volatility: 'session',
  placement: 'system',
  async render(context, { heading = '## Persona', files: [file] = [], characters }) {
    const { persona } = context;
    if (persona !== undefined) return { ...persona, text: `${heading}\n${persona.text}` };
    if (file === undefined) return absent('no persona was chosen');
    const found = await readContextFile(context, file, characters);
    if ('absent' in found) return found;
    const { text, source, audience, cut } = found;
    return { text: `${heading}\n${text}`, source, audience, cut };
  },
};
