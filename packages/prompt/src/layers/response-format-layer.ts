import { absent, type Layer } from '../layer.ts';

const INTRO =
  'A program reads your answer. Answer with one JSON value that fits this JSON Schema and nothing else: no words around it, no code fence. This takes the place of any other format.';

/** Where a program reads the answer: the JSON to answer with. */
export const responseFormatLayer: Layer = {
  id: 'response-format',
  volatility: 'turn',
  placement: 'system',
  modes: ['full', 'minimal'],
  render({ responseSchema }, { heading = '## Response Format' }) {
    if (responseSchema === undefined) return absent('people read this answer');
    const text = `${heading}\n${INTRO}\n\n${JSON.stringify(responseSchema, null, 2)}`;
    return { text, source: 'JSON Schema', audience: { kind: 'everyone' } };
  },
};
