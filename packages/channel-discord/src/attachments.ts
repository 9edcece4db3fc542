import type { InboundMessage } from '@parley/core';
import { type DisplayedMedia, getMediaUrl, parseComponents } from './components.ts';
import { formatFileRef } from './files.ts';
import type {
  WireAnswered,
  WireAttachment,
  WireContent,
  WireEmbed,
  WireMessage,
  WireSticker,
} from './wire-message.ts';

export type Attachment = NonNullable<InboundMessage['attachments']>[number];

/** The limit in the channel contract; Discord itself allows ten files and three stickers. */
const MAX_FILES = 32;
const MAX_REF = 4_096;
/**
 * The maximum number of embed pictures that are downloaded. The text contains the URLs of the
 * remaining pictures.
 */
const MAX_PICTURES = 4;
/**
 * File extensions of stickers, keyed by Discord's format number. Format 3 (Lottie) is not a
 * picture.
 */
const STICKER_FORMATS: ReadonlyMap<number, string> = new Map([
  [1, 'png'],
  [2, 'png'],
  [4, 'gif'],
]);

/**
 * The files, stickers and pictures in a message, and in the messages that it forwards. A reply
 * without files gets the files of its original message: "what is this?" below a picture refers to
 * the picture.
 */
export function listMessageAttachments(message: WireMessage): Attachment[] {
  const { channel_id: channelId, referenced_message: answered } = message;
  const own = listDirectAttachments(message, { channelId, messageId: message.id });
  if (own.length > 0 || answered?.id === undefined) return own.slice(0, MAX_FILES);
  return listDirectAttachments(answered, { channelId, messageId: answered.id }).slice(0, MAX_FILES);
}

/** The message from which fresh file URLs can be requested. */
interface SourceMessage {
  readonly channelId: string;
  readonly messageId: string;
}

const UNKNOWN: SourceMessage = { channelId: '0', messageId: '0' };

/** The files of a message itself, including those of forwarded messages. */
export function listDirectAttachments(
  message: WireMessage | WireAnswered,
  holder = UNKNOWN,
): Attachment[] {
  const forwarded = message.message_snapshots.map((snapshot) => snapshot.message);
  const all = [message, ...forwarded].flatMap((content) => listContentAttachments(content, holder));
  return all.filter(({ ref }) => ref.length <= MAX_REF);
}

function listContentAttachments(content: WireContent, holder: SourceMessage): Attachment[] {
  const { media } = parseComponents(content.components, (text) => text);
  const isOf = (file: WireAttachment, { attachment_id, url }: DisplayedMedia) =>
    attachment_id === undefined ? file.url === url : file.id === attachment_id;
  const { attachments } = content;
  const others = media.filter((one) => !attachments.some((file) => isOf(file, one)));
  return [
    ...attachments.map((file) =>
      toAttachment(
        file,
        holder,
        media.find((one) => isOf(file, one)),
      ),
    ),
    ...others.flatMap((one) => toMediaAttachments(one, holder)),
    ...content.embeds.flatMap(listEmbedPictures).slice(0, MAX_PICTURES),
    ...getStickers(content).flatMap(toStickerAttachments),
  ];
}

/** Attachment flag: the file is hidden until it is clicked. */
const IS_SPOILER = 1 << 3;
/** The prefix that marks such a file in its name. */
const SPOILER = 'SPOILER_';

/**
 * Converts a file to an attachment; `shown` is the component that displays the file, if there is
 * one.
 */
function toAttachment(
  file: WireAttachment,
  { channelId, messageId }: SourceMessage,
  shown: DisplayedMedia | undefined,
): Attachment {
  const { url, id, content_type, size, duration_secs, flags = 0 } = file;
  const description = file.description ?? shown?.description;
  const isSpoiler = (flags & IS_SPOILER) !== 0 || shown?.isSpoiler === true;
  return {
    kind: file.waveform !== undefined ? 'voice' : toAttachmentKind(content_type),
    name: formatSpoilerName(getDisplayFilename(file), isSpoiler),
    ...(content_type === undefined ? {} : { mimeType: content_type }),
    ...(size === undefined ? {} : { size }),
    ...(duration_secs === undefined ? {} : { seconds: duration_secs }),
    ...(description === undefined ? {} : { description: description.slice(0, MAX_DESCRIPTION) }),
    ref: formatFileRef({ url, channelId, messageId, fileId: id }),
  };
}

/** Discord's limit for a description, in characters. */
const MAX_DESCRIPTION = 1_024;

/** The file name that people see. In `filename`, Discord removes characters such as spaces. */
function getDisplayFilename({ title, filename }: WireAttachment): string {
  if (title === undefined || title === '') return filename;
  const [ending = ''] = /\.\w{1,10}$/.exec(filename) ?? [];
  return title.endsWith(ending) ? title : `${title}${ending}`;
}

function formatSpoilerName(name: string, isSpoiler: boolean): string {
  return isSpoiler && !name.startsWith(SPOILER) ? `${SPOILER}${name}` : name;
}

function toAttachmentKind(contentType: string | undefined): Attachment['kind'] {
  const [family] = (contentType ?? '').toLowerCase().split('/');
  return family === 'image' || family === 'audio' || family === 'video' ? family : 'document';
}

/** A file in a component. Discord keeps a copy of an external file, and this copy is downloaded. */
function toMediaAttachments(
  media: DisplayedMedia,
  { channelId, messageId }: SourceMessage,
): Attachment[] {
  const { url, content_type, attachment_id, description, isSpoiler, name } = media;
  const address = getMediaUrl(media);
  if (address === undefined) return [];
  const called = name ?? URL.parse(url)?.pathname.split('/').at(-1) ?? '';
  return [
    {
      kind: toAttachmentKind(content_type),
      ...(called !== '' && { name: formatSpoilerName(called, isSpoiler) }),
      ...(content_type === undefined ? {} : { mimeType: content_type }),
      ...(description === undefined ? {} : { description: description.slice(0, MAX_DESCRIPTION) }),
      ref: formatFileRef({
        url: address,
        ...(attachment_id !== undefined && { channelId, messageId, fileId: attachment_id }),
      }),
    },
  ];
}

/** The main picture of an embed, but not the thumbnail in the preview of a page. */
function listEmbedPictures({ type, image, thumbnail }: WireEmbed): Attachment[] {
  const isPicture = type === 'image' || type === 'gifv';
  const picture = isPicture ? (thumbnail ?? image) : type === 'rich' ? image : undefined;
  if (picture?.proxy_url === undefined || !/^https?:/.test(picture.proxy_url)) return [];
  const { proxy_url: url, content_type } = picture;
  const isImage = content_type?.startsWith('image/') === true;
  return [
    { kind: 'image', ...(isImage && { mimeType: content_type }), ref: formatFileRef({ url }) },
  ];
}

/** The stickers in a message, in the newer form if both forms are present. */
function getStickers({ sticker_items, stickers }: WireContent): readonly WireSticker[] {
  return sticker_items.length > 0 ? sticker_items : stickers;
}

function toStickerAttachments({ id, name, format_type }: WireSticker): Attachment[] {
  const extension = STICKER_FORMATS.get(format_type);
  if (extension === undefined) return [];
  const url = `https://media.discordapp.net/stickers/${id}.${extension}`;
  return [{ kind: 'sticker', name, mimeType: `image/${extension}`, ref: formatFileRef({ url }) }];
}

/** The names of stickers that are not pictures: animated drawings and unknown formats. */
export function listStickersWithoutPicture(content: WireContent): readonly string[] {
  return getStickers(content).flatMap(({ name, format_type }) =>
    STICKER_FORMATS.has(format_type) ? [] : [name],
  );
}
