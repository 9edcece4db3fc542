import type { Attachment } from '@parley/contracts';
import { type proto, toNumber } from '@whiskeysockets/baileys';
import { z } from 'zod';

/** Where WhatsApp keeps files when a message does not say. */
const DEFAULT_HOST = 'mmg.whatsapp.net';
/** Longer paths are not WhatsApp's; a reference has at most 4,096 characters. */
const LONGEST_ADDRESS = 2_000;
const LONGEST_NAME = 255;

/** What is needed to fetch a file later, and to know it for the one that was sent. */
export const MediaRef = z.strictObject({
  /** Decides how the key is used. */
  kind: z.enum(['image', 'audio', 'video', 'document', 'sticker']),
  /** As the sender wrote it: nothing to be fetched without a look at it. */
  address: z.string(),
  key: z.base64(),
  /** SHA-256 of the file. */
  hash: z.base64(),
  /** In bytes, as the sender claims. */
  size: z.number().optional(),
  /** The message that brought it, for asking for the file once more. */
  chat: z.string(),
  id: z.string(),
  writer: z.string().optional(),
});
export type MediaRef = z.infer<typeof MediaRef>;

/** The message an attachment belongs to. */
export type MediaPlace = Pick<MediaRef, 'chat' | 'id' | 'writer'>;

/** What all kinds of files have in common. */
interface FileFields {
  readonly url?: string | null;
  readonly directPath?: string | null;
  readonly mediaKey?: Uint8Array | null;
  readonly fileSha256?: Uint8Array | null;
  readonly fileLength?: Parameters<typeof toNumber>[0] | null;
  readonly mimetype?: string | null;
  readonly fileName?: string | null;
}

/** The file in a message whose wrappers are off; undefined when there is none that could be fetched. */
export function attachmentIn(content: proto.IMessage, place: MediaPlace): Attachment | undefined {
  const { imageMessage, audioMessage, documentMessage, stickerMessage } = content;
  const video = content.videoMessage ?? content.ptvMessage;
  if (imageMessage) return attachment('image', 'image', imageMessage, place);
  if (video) return attachment('video', 'video', video, place);
  if (audioMessage)
    return attachment('audio', audioMessage.ptt ? 'voice' : 'audio', audioMessage, place);
  if (documentMessage) return attachment('document', 'document', documentMessage, place);
  return stickerMessage ? attachment('sticker', 'sticker', stickerMessage, place) : undefined;
}

function attachment(
  kind: MediaRef['kind'],
  shownAs: Attachment['kind'],
  file: FileFields,
  place: MediaPlace,
): Attachment | undefined {
  const address = addressOf(file);
  const { mediaKey, fileSha256, mimetype, fileName } = file;
  if (address === undefined || !mediaKey?.length || !fileSha256?.length) return undefined;
  const size = sizeOf(file);
  const ref: MediaRef = {
    kind,
    address,
    key: Buffer.from(mediaKey).toString('base64'),
    hash: Buffer.from(fileSha256).toString('base64'),
    ...size,
    ...place,
  };
  return {
    kind: shownAs,
    ...(fileName ? { name: fileName.slice(0, LONGEST_NAME) } : {}),
    ...(mimetype ? { mimeType: mimetype.slice(0, LONGEST_NAME) } : {}),
    ...size,
    ref: JSON.stringify(ref),
  };
}

/** The path counts; a whole address is what older apps send. */
function addressOf({ url, directPath }: FileFields): string | undefined {
  const host = url && URL.canParse(url) ? new URL(url).host : DEFAULT_HOST;
  const address = directPath ? `https://${host}${directPath}` : url;
  return address && address.length <= LONGEST_ADDRESS ? address : undefined;
}

function sizeOf({ fileLength }: FileFields): { readonly size?: number } {
  if (fileLength === null || fileLength === undefined) return {};
  const size = toNumber(fileLength);
  return Number.isSafeInteger(size) && size >= 0 ? { size } : {};
}
