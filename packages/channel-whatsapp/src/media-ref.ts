import type { Attachment } from '@parley/core';
import { toNumber } from '@whiskeysockets/baileys';
import { z } from 'zod';
import type { FileFields, FoundFile } from './kinds/reading.ts';

/** The file server to use if a message does not name one. */
const DEFAULT_HOST = 'mmg.whatsapp.net';
/** The maximum length, in characters, of a file's path. WhatsApp's own paths are shorter. */
const MAX_ADDRESS = 2_000;
/**
 * The limit in the channel contract, in characters. WhatsApp's keys and ids are short, but the
 * sender's app may write anything.
 */
const MAX_REF = 4_096;
const MAX_NAME = 255;

/** The data needed for downloading a file later and verifying it. */
const MediaRef = z.strictObject({
  /** The media type, from which the keys are derived. */
  kind: z.enum(['image', 'audio', 'video', 'document', 'sticker']),
  /** The sender's unverified URL, which must be checked before it is requested. */
  address: z.string(),
  key: z.base64(),
  /** The SHA-256 hash of the file. */
  hash: z.base64(),
  /** The size in bytes, as claimed by the sender. */
  size: z.number().optional(),
  /** The chat with the file's message, which is needed to request the file again. */
  chat: z.string(),
  id: z.string(),
  writer: z.string().optional(),
  /** Set when this account sent the message. */
  fromMe: z.literal(true).optional(),
});
export type MediaRef = z.infer<typeof MediaRef>;

/** The message to which a file belongs. */
export type MediaMessage = Pick<MediaRef, 'chat' | 'id' | 'writer' | 'fromMe'>;

/** Parses an attachment's reference; undefined if it was not created by this channel. */
export function parseMediaRef(text: string): MediaRef | undefined {
  try {
    return MediaRef.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/**
 * Converts a file to an attachment; undefined if its address, key or hash is missing or too long,
 * because it cannot be downloaded then.
 */
export function toAttachment(
  { media, shownAs, fields }: FoundFile,
  place: MediaMessage,
  isViewOnce: boolean,
): Attachment | undefined {
  const address = getMediaUrl(fields);
  const { mediaKey, fileSha256, mimetype, fileName, title } = fields;
  if (address === undefined || !mediaKey?.length || !fileSha256?.length) return undefined;
  const size = toMediaSize(fields);
  const ref = JSON.stringify({
    kind: media,
    address,
    key: Buffer.from(mediaKey).toString('base64'),
    hash: Buffer.from(fileSha256).toString('base64'),
    ...size,
    ...place,
  } satisfies MediaRef);
  if (ref.length > MAX_REF) return undefined;
  const name = fileName || title;
  return {
    kind: shownAs,
    ...(name ? { name: name.slice(0, MAX_NAME).toWellFormed() } : {}),
    ...(mimetype ? { mimeType: mimetype.slice(0, MAX_NAME) } : {}),
    ...size,
    ...(isViewOnce && { viewOnce: true }),
    ref,
  };
}

const NOUNS: Readonly<Record<Attachment['kind'], string>> = {
  image: 'picture',
  audio: 'recording',
  voice: 'voice message',
  video: 'video',
  document: 'document',
  sticker: 'sticker',
};

/** A file's name, without an article: `view-once picture`. */
export function describeFile({ kind, viewOnce }: Pick<Attachment, 'kind' | 'viewOnce'>): string {
  return viewOnce === true ? `view-once ${NOUNS[kind]}` : NOUNS[kind];
}

/** A file's path takes precedence over the complete URL that older apps send. */
function getMediaUrl({ url, directPath }: FileFields): string | undefined {
  const host = url && URL.canParse(url) ? new URL(url).host : DEFAULT_HOST;
  const address = directPath ? `https://${host}${directPath}` : url;
  return address && address.length <= MAX_ADDRESS ? address : undefined;
}

function toMediaSize({ fileLength }: FileFields): { readonly size?: number } {
  if (fileLength === null || fileLength === undefined) return {};
  const size = toNumber(fileLength);
  return Number.isSafeInteger(size) && size >= 0 ? { size } : {};
}
