import { type FileHandle, open } from 'node:fs/promises';
import { ChannelError, type OutboundFile, reasonOf } from '@parley/contracts';
import { pixelsOf } from '@parley/media';
import {
  type AnyMediaMessageContent,
  type MediaGenerationOptions,
  prepareWAMessageMedia,
  type proto,
} from '@whiskeysockets/baileys';
import { notSent, sendErrorOf } from './send-failure.ts';

/** Longest caption that WhatsApp's apps write; what is longer goes before the file. In UTF-16 units. */
const LONGEST_CAPTION = 1_024;
/** An upload that stands still for so long is given up, in ms. */
const UPLOAD_TIMEOUT_MS = 60_000;
/** Baileys decodes a picture in this process to make its preview; larger ones go without (G19). */
const MOST_PREVIEWED_PIXELS = 25_000_000;
/** Where a picture says its size, even behind what cameras write before it, in bytes. */
const SIZE_WITHIN = 256 * 1_024;

/** Whether a text can stand below a file; recordings have nothing below them. */
export function canBeCaption({ kind }: OutboundFile, text: string): boolean {
  return kind !== 'audio' && kind !== 'voice' && text.length <= LONGEST_CAPTION;
}

/**
 * Seals a file, puts it on WhatsApp's server and makes the message that points to it.
 * @throws ChannelError `refused` where the file cannot be read
 */
export async function fileMessage(
  file: OutboundFile,
  caption: string,
  { upload }: Pick<MediaGenerationOptions, 'upload'>,
): Promise<proto.IMessage> {
  const handle = await open(file.path).catch((thrown: unknown) => {
    throw unreadable(file, reasonOf(thrown), thrown);
  });
  try {
    if (!(await handle.stat()).isFile()) throw unreadable(file, 'it is not a file');
    // A stream, never a path: Baileys reads whatever an address or path names.
    const preview = file.kind === 'image' && (await isPreviewed(handle));
    const content = contentOf(file, caption, preview, { stream: handle.createReadStream() });
    return await prepareWAMessageMedia(content, {
      upload,
      mediaUploadTimeoutMs: UPLOAD_TIMEOUT_MS,
    });
  } catch (thrown) {
    throw thrown instanceof ChannelError ? thrown : sendErrorOf(notSent(thrown), thrown);
  } finally {
    await handle.close();
  }
}

type Stream = Extract<AnyMediaMessageContent, { audio: unknown }>['audio'];

async function isPreviewed(handle: FileHandle): Promise<boolean> {
  const beginning = Buffer.alloc(SIZE_WITHIN);
  const { bytesRead } = await handle.read(beginning, 0, SIZE_WITHIN, 0);
  const pixels = pixelsOf(beginning.subarray(0, bytesRead));
  return pixels !== null && pixels <= MOST_PREVIEWED_PIXELS;
}

function contentOf(
  file: OutboundFile,
  text: string,
  preview: boolean,
  media: Stream,
): AnyMediaMessageContent {
  const { kind, name, mimeType: mimetype } = file;
  const caption = text === '' ? {} : { caption: text };
  switch (kind) {
    case 'image':
      return { image: media, mimetype, ...(preview ? {} : { jpegThumbnail: '' }), ...caption };
    case 'video':
      // No preview: Baileys would start another program for it.
      return { video: media, mimetype, jpegThumbnail: '', ...caption };
    case 'document':
      return { document: media, mimetype, fileName: name, ...caption };
    case 'audio':
      return { audio: media, mimetype };
    case 'voice':
      return { audio: media, ...voice(mimetype) };
  }
}

/** Phones play voice notes in Opus only; another recording goes out as a file of sound. */
function voice(mimetype: string): { readonly mimetype: string; readonly ptt?: true } {
  return mimetype.startsWith('audio/ogg')
    ? { mimetype: 'audio/ogg; codecs=opus', ptt: true }
    : { mimetype };
}

function unreadable({ name }: OutboundFile, why: string, cause?: unknown): ChannelError {
  const words = `The file ${name} cannot be read, so it is not sent: ${why}.`;
  return new ChannelError({ kind: 'refused' }, words, cause);
}
