import { absent, type Layer } from '../layer.ts';

/** How to say nothing (G09). */
export const silentRepliesLayer: Layer = {
  id: 'silent-replies',
  volatility: 'session',
  placement: 'system',
  render({ silentToken }, { heading = '## Silent Replies' }) {
    if (silentToken === undefined) return absent('every turn here is answered');
    return {
      text: `${heading}\nWhen nothing should be said, answer with exactly ${silentToken}: the whole message, without a mark or a word around it. Nothing is sent then. Never put it into a real answer.`,
      source: 'Parley',
      audience: { kind: 'everyone' },
    };
  },
};
