import type { Attachment } from '@parley/contracts';
import { answeredMessage } from './addressed.ts';
import type { DescribedFile, mediaFields, PhotoSize, Sticker } from './wire-media.ts';
import type { WireMessage } from './wire-message.ts';

/**
 * The files of a message; `ref` is Telegram's file id, which this bot can use at any time. Where a
 * message has none, those of the one it answers: "what is this?" below a picture means the picture.
 */
export function attachmentsOf(message: WireMessage): Attachment[] {
  const own = filesOf(message);
  const answered = answeredMessage(message);
  return own.length > 0 || answered === undefined ? own : filesOf(answered);
}

function filesOf(message: Pick<WireMessage, keyof typeof mediaFields>): Attachment[] {
  const { photo = [], voice, audio, video, video_note, animation, document, sticker } = message;
  const largest = largestOf(photo);
  if (largest) return [fileOf('image', { ...largest, mime_type: 'image/jpeg' })];
  if (voice) return [fileOf('voice', voice, 'audio/ogg')];
  if (audio) return [fileOf('audio', audio)];
  // An animation also fills `document`, for programs that know no animations.
  const moving = video ?? video_note ?? animation;
  if (moving) return [fileOf('video', moving, 'video/mp4')];
  if (document) return [fileOf('document', document)];
  // The emoji it stands for is the nearest thing to a name.
  const named = sticker && {
    ...sticker,
    file_name: sticker.emoji,
    mime_type: stickerType(sticker),
  };
  return named ? [fileOf('sticker', named)] : [];
}

function largestOf(sizes: readonly PhotoSize[]): PhotoSize | undefined {
  return sizes.toSorted((a, b) => b.width * b.height - a.width * a.height)[0];
}

function fileOf(kind: Attachment['kind'], file: DescribedFile, usualType?: string): Attachment {
  const { file_id, file_name, file_size, mime_type = usualType } = file;
  return {
    kind,
    ref: file_id,
    ...(file_name === undefined ? {} : { name: file_name }),
    ...(mime_type === undefined ? {} : { mimeType: mime_type }),
    ...(file_size === undefined ? {} : { size: file_size }),
  };
}

function stickerType({ is_animated, is_video }: Sticker): string {
  if (is_animated) return 'application/x-tgsticker';
  return is_video ? 'video/webm' : 'image/webp';
}
