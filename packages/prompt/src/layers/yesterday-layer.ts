import { absent, type Layer } from '../layer.ts';
import { quotedBlock } from './quoted-block.ts';

/** Yesterday's talk in this chat, as a structured summary (G11). */
export const yesterdayLayer: Layer = {
  id: 'yesterday',
  volatility: 'session',
  placement: 'system',
  render({ yesterday }, { heading = '## Conversation Summary' }) {
    if (yesterday === undefined) return absent('there was no talk yesterday');
    const text = `${heading}\nYesterday, as you noted it:\n${quotedBlock(yesterday.text)}`;
    return { ...yesterday, text };
  },
};
