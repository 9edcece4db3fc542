import { absent, type Layer } from '../layer.ts';

const TEXT = `This chat can show which message you answer. To have it shown, begin your answer with one tag; it is taken out before anybody sees it.
- \`[[reply_to_current]]\` quotes the message you are answering.
- \`[[reply_to:ID]]\` quotes the message with that id. Use an id that you were given, never a made-up one.
Most answers need no tag.`;

/** How to quote a message, where the platform can (G10). */
export const replyTagsLayer: Layer = {
  id: 'reply-tags',
  volatility: 'session',
  placement: 'system',
  render({ replyTags = false }, { heading = '## Reply Tags' }) {
    if (!replyTags) return absent('this chat cannot quote messages');
    return { text: `${heading}\n${TEXT}`, source: 'Parley', audience: { kind: 'everyone' } };
  },
};
