import { type FileHandle, open } from 'node:fs/promises';
import { ChannelError, getOutboundFilePath, type OutboundFile, reasonOf } from '@parley/core';
import { countPixels } from '@parley/tools/documents';
import {
  type AnyMediaMessageContent,
  type GroupMetadata,
  type MediaGenerationOptions,
  prepareWAMessageMedia,
  type proto,
} from '@whiskeysockets/baileys';
import { toSendFailure, toWhatsAppSendError } from './failures.ts';
import { toPersonIds } from './people.ts';

/**
 * The maximum caption length in WhatsApp's apps, in UTF-16 units. A longer text is sent before the
 * file.
 */
const MAX_CAPTION = 1_024;
/** An upload without progress is aborted after this time (ms). */
const UPLOAD_TIMEOUT_MS = 15_000;
/**
 * The maximum size, in pixels, of a picture that gets a preview, because Baileys decodes it in this
 * process (G19).
 */
const MAX_PREVIEWED_PIXELS = 25_000_000;
/**
 * A picture's dimensions are within this many first bytes, even if a camera's metadata precedes
 * them.
 */
const SIZE_WITHIN = 256 * 1_024;

/** Returns whether text can be the caption of a file; recordings do not have captions. */
export function canBeCaption({ kind }: OutboundFile, text: string): boolean {
  return kind !== 'audio' && kind !== 'voice' && text.length <= MAX_CAPTION;
}

/**
 * Encrypts a file, uploads it to WhatsApp's server and returns the message that refers to it.
 * @throws ChannelError `refused` if the file cannot be read
 */
export async function createFileMessage(
  file: OutboundFile,
  caption: string,
  { upload }: Pick<MediaGenerationOptions, 'upload'>,
): Promise<proto.IMessage> {
  const handle = await open(getOutboundFilePath(file)).catch((thrown: unknown) => {
    throw createUnreadableFileError(file, reasonOf(thrown), thrown);
  });
  try {
    if (!(await handle.stat()).isFile()) throw createUnreadableFileError(file, 'it is not a file');
    // The file is always passed as a stream instead of a path, because Baileys would read any URL
    // or path.
    const preview = file.kind === 'image' && (await canPreview(handle));
    const content = createFileContent(file, caption, preview, {
      stream: handle.createReadStream(),
    });
    return await prepareWAMessageMedia(content, {
      upload,
      mediaUploadTimeoutMs: UPLOAD_TIMEOUT_MS,
    });
  } catch (thrown) {
    throw thrown instanceof ChannelError
      ? thrown
      : toWhatsAppSendError(toSendFailure(thrown), thrown);
  } finally {
    await handle.close();
  }
}

type FileStream = Extract<AnyMediaMessageContent, { audio: unknown }>['audio'];

async function canPreview(handle: FileHandle): Promise<boolean> {
  const beginning = Buffer.alloc(SIZE_WITHIN);
  const { bytesRead } = await handle.read(beginning, 0, SIZE_WITHIN, 0);
  const pixels = countPixels(beginning.subarray(0, bytesRead));
  return pixels !== null && pixels <= MAX_PREVIEWED_PIXELS;
}

function createFileContent(
  file: OutboundFile,
  text: string,
  preview: boolean,
  media: FileStream,
): AnyMediaMessageContent {
  const { kind, name, mimeType: mimetype } = file;
  const caption = text === '' ? {} : { caption: text };
  switch (kind) {
    case 'image':
      return { image: media, mimetype, ...(preview ? {} : { jpegThumbnail: '' }), ...caption };
    case 'video':
      // An empty preview keeps Baileys from starting another program to create one.
      return { video: media, mimetype, jpegThumbnail: '', ...caption };
    case 'document':
      return { document: media, mimetype, fileName: name, ...caption };
    case 'audio':
      return { audio: media, mimetype };
    case 'voice':
      return { audio: media, ...toVoiceFields(mimetype) };
  }
}

/** Phones play only Opus as voice notes; other recordings are sent as audio files. */
function toVoiceFields(mimetype: string): { readonly mimetype: string; readonly ptt?: true } {
  return mimetype.startsWith('audio/ogg')
    ? { mimetype: 'audio/ogg; codecs=opus', ptt: true }
    : { mimetype };
}

function createUnreadableFileError(
  { name }: OutboundFile,
  why: string,
  cause?: unknown,
): ChannelError {
  const message = `The file ${name} cannot be read, so it was not sent: ${why}.`;
  return new ChannelError({ kind: 'refused' }, message, cause);
}

/** A mention in WhatsApp text: `@` and digits at the start of a word. */
const NAMED = /(?<![\w@])@(\d{5,20})(?!\w)/g;

/**
 * The group members mentioned in a text, as ids in the form that the text uses. Phones show a name
 * instead and notify the person. Only members can be notified.
 */
export function listMentionedMembers(text: string, { participants }: GroupMetadata): string[] {
  const known = new Map<string, string>();
  for (const { id, phoneNumber, lid } of participants) {
    const person = toPersonIds(id, phoneNumber, lid);
    for (const jid of [person.lid, person.pn]) {
      if (jid !== undefined) known.set(jid.split('@')[0] ?? '', jid);
    }
  }
  const named = [...text.matchAll(NAMED)].map(([, digits = '']) => known.get(digits));
  return [...new Set(named.filter((jid) => jid !== undefined))];
}
