import type { InboundMessage } from '@parley/contracts';
import { writeRef } from './file-ref.ts';
import type { WireAttachment, WireContent, WireMessage } from './wire.ts';

type Attachment = NonNullable<InboundMessage['attachments']>[number];

/** As many as the contract takes; Discord itself allows ten files and three stickers. */
const MOST = 32;
/** Endings of sticker pictures by Discord's number of their format; 3 (Lottie) is no picture. */
const STICKER_FORMATS: ReadonlyMap<number, string> = new Map([
  [1, 'png'],
  [2, 'png'],
  [4, 'gif'],
]);

/**
 * The files and stickers of a message, and of one that it forwards. Where it has none, those of the one
 * it answers: "what is this?" below a picture means the picture.
 */
export function attachmentsOf(message: WireMessage): Attachment[] {
  const forwarded = message.message_snapshots?.map((snapshot) => snapshot.message) ?? [];
  const own = [message, ...forwarded].flatMap((content) => filesOf(content, message, message.id));
  const answered = message.referenced_message;
  const id = answered?.id;
  if (own.length > 0 || answered == null || id === undefined) return own.slice(0, MOST);
  return filesOf(answered, message, id).slice(0, MOST);
}

/** `id` is that of the message to ask for fresh addresses. */
function filesOf(content: WireContent, { channel_id }: WireMessage, id: string): Attachment[] {
  const files = content.attachments.map((file) => fileOf(file, channel_id, id));
  return [...files, ...stickersOf(content)];
}

function fileOf(file: WireAttachment, channelId: string, messageId: string): Attachment {
  return {
    kind: kindOf(file),
    name: file.filename,
    ...(file.content_type == null ? {} : { mimeType: file.content_type }),
    size: file.size,
    ref: writeRef({ url: file.url, channelId, messageId, fileId: file.id }),
  };
}

function kindOf({ content_type, waveform }: WireAttachment): Attachment['kind'] {
  if (waveform != null) return 'voice';
  const [family] = (content_type ?? '').split('/');
  return family === 'image' || family === 'audio' || family === 'video' ? family : 'document';
}

function stickersOf({ sticker_items }: WireContent): Attachment[] {
  return sticker_items.flatMap(({ id, name, format_type }) => {
    const ending = STICKER_FORMATS.get(format_type);
    if (ending === undefined) return [];
    const url = `https://media.discordapp.net/stickers/${id}.${ending}`;
    return [{ kind: 'sticker', name, mimeType: `image/${ending}`, ref: writeRef({ url }) }];
  });
}
