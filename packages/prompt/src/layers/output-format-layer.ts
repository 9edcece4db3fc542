import { absent, type Layer } from '../layer.ts';

/** How answers are shaped, such as `emotion_pipe` (P14). */
export const outputFormatLayer: Layer = {
  id: 'output-format',
  volatility: 'session',
  placement: 'system',
  render({ outputFormat }, { heading = '## Answer Format' }) {
    if (outputFormat === undefined) return absent('answers have no format of their own');
    return { ...outputFormat, text: `${heading}\n${outputFormat.text}` };
  },
};
