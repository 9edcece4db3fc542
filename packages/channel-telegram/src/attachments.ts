import type { Attachment } from '@parley/core';
import { listPollMedia } from './cards.ts';
import { parseRichText } from './rich-text.ts';
import type { AnsweredMessage, WireMessage } from './wire.ts';
import type { DescribedFile, MessageMedia, PhotoSize, Sticker } from './wire-basics.ts';

/** The maximum number of files in one message. */
const MAX_FILES = 32;

/**
 * The files of a message; `ref` is Telegram's file id, which stays valid for this bot. A message
 * without files gets those of the message it replies to or quotes: "what is this?" below a picture
 * refers to the picture.
 */
export function listMessageAttachments({
  message,
  answered,
}: {
  readonly message: WireMessage;
  readonly answered: AnsweredMessage | undefined;
}): Attachment[] {
  const sources = [message, answered, message.external_reply];
  const files = sources.map((source) => (source === undefined ? [] : listVisibleFiles(source)));
  return (files.find((found) => found.length > 0) ?? []).slice(0, MAX_FILES);
}

type AttachmentSource = MessageMedia &
  Partial<Pick<WireMessage, 'poll' | 'paid_media' | 'rich_message'>>;

export function listVisibleFiles(message: AttachmentSource): Attachment[] {
  const { poll, paid_media, rich_message: rich } = message;
  const inside = [
    ...(poll ? listPollMedia(poll) : []),
    ...(paid_media?.paid_media ?? []),
    ...(rich === undefined ? [] : parseRichText(rich).media),
  ];
  return [message, ...inside].flatMap(listMediaAttachments);
}

function listMediaAttachments(message: MessageMedia): Attachment[] {
  const { photo, live_photo, voice, audio, video, video_note, animation, document, sticker } =
    message;
  const largest = findLargestSize(photo ?? live_photo?.photo ?? []);
  if (largest) return [toAttachment('image', { ...largest, mime_type: 'image/jpeg' })];
  if (voice) return [toAttachment('voice', voice, 'audio/ogg')];
  if (audio) return [toAttachment('audio', { ...audio, file_name: getAudioTitle(audio) })];
  // For clients that do not support animations, Telegram also sets `document` on an animation.
  const moving = video ?? video_note ?? animation ?? live_photo;
  if (moving) return [toAttachment(isPicture(moving) ? 'image' : 'video', moving, 'video/mp4')];
  if (document) return [toAttachment('document', document)];
  return sticker ? toStickerAttachments(sticker) : [];
}

/** Telegram does not convert every GIF to a video, and the model can view a GIF as a picture. */
function isPicture({ mime_type }: DescribedFile): boolean {
  return mime_type?.startsWith('image/') ?? false;
}

/**
 * Stickers are named after their emoji. An animated sticker is a vector animation, which cannot be
 * rendered here.
 */
function toStickerAttachments(sticker: Sticker): Attachment[] {
  if (sticker.is_animated) return [];
  const { emoji, file_id, file_size } = sticker;
  const mime_type = sticker.is_video ? 'video/webm' : 'image/webp';
  return [toAttachment('sticker', { file_id, file_size, file_name: emoji, mime_type })];
}

/** Recordings have either a file name or a title and performer. */
function getAudioTitle({
  file_name,
  performer,
  title,
}: NonNullable<MessageMedia['audio']>): string | undefined {
  const said = [performer, title].filter(Boolean).join(' - ');
  return file_name ?? (said === '' ? undefined : said);
}

function findLargestSize(sizes: readonly PhotoSize[]): PhotoSize | undefined {
  return sizes.toSorted((a, b) => b.width * b.height - a.width * a.height)[0];
}

function toAttachment(
  kind: Attachment['kind'],
  file: DescribedFile,
  usualType?: string,
): Attachment {
  const { file_id, file_name, file_size, mime_type = usualType } = file;
  return {
    kind,
    ref: file_id,
    ...(file_name === undefined ? {} : { name: file_name }),
    ...(mime_type === undefined ? {} : { mimeType: mime_type }),
    ...(file_size === undefined ? {} : { size: file_size }),
  };
}
