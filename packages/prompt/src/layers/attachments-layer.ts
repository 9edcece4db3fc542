import { absent, type Layer } from '../layer.ts';
import type { AttachmentNote } from '../prompt-features.ts';
import { countOf } from './count-of.ts';

/** What came with the messages. Names of files are the senders' words and stand elsewhere (P18). */
export const attachmentsLayer: Layer = {
  id: 'attachments',
  volatility: 'turn',
  placement: 'system',
  modes: ['full', 'minimal'],
  render({ attachments = [], reader }, { heading = '## Attachments' }) {
    if (attachments.length === 0) return absent('nothing was attached');
    const { conversationId } = reader;
    return {
      text: [heading, ...attachments.map(line)].join('\n'),
      source: countOf(attachments.length, 'attachment'),
      audience: { kind: 'conversation', conversationId },
    };
  },
};

function line({ kind, mimeType, size }: AttachmentNote): string {
  const known = [
    plain(kind),
    ...(mimeType === undefined ? [] : [plain(mimeType)]),
    ...(size === undefined ? [] : [sizeInWords(size)]),
  ];
  return `- ${known.join(', ')}`;
}

/** Kinds and media types are short codes; anything else came from a sender and is left out. */
function plain(code: string): string {
  return /^[\w.+/-]{1,100}$/.test(code) ? code : '(unusual, not shown)';
}

function sizeInWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  return bytes < 1_000_000
    ? `${Math.round(bytes / 1_000)} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
