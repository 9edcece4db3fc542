import { type proto, proto as wire } from '@whiskeysockets/baileys';
import type { Attachment } from '../read-content.ts';
import type { MediaHost } from './media-host.ts';
import { openFile, sealFile } from './seal-file.ts';

/** A file as somebody sends it. */
export interface FileDraft {
  readonly kind: Attachment['kind'];
  readonly content: Buffer;
  readonly mimetype: string;
  readonly caption?: string | undefined;
  /** Documents only. */
  readonly fileName?: string | undefined;
  /** Audio only: a voice note. */
  readonly voice?: boolean | undefined;
  readonly seconds?: number | undefined;
  /** Id of the message that announces the album it belongs to. */
  readonly album?: string | undefined;
}

/** Puts a file on the host and makes the message that points to it. */
export async function fileMessage(host: MediaHost, draft: FileDraft): Promise<proto.IMessage> {
  const message = await messageOf(host, draft);
  if (draft.album === undefined) return message;
  const associationType = wire.MessageAssociation.AssociationType.MEDIA_ALBUM;
  const parentMessageKey = { id: draft.album };
  const messageAssociation = { associationType, parentMessageKey };
  return { ...message, messageContextInfo: { messageAssociation } };
}

async function messageOf(host: MediaHost, draft: FileDraft): Promise<proto.IMessage> {
  const { kind, content, mimetype, caption, fileName, voice, seconds } = draft;
  const { stored, ...sealed } = await sealFile(kind, content);
  const directPath = host.store(kind, stored);
  const common = { url: `https://${host.address}${directPath}`, directPath, mimetype, ...sealed };
  const text = caption === undefined ? {} : { caption };
  if (kind === 'image') return { imageMessage: { ...common, ...text } };
  if (kind === 'video') return { videoMessage: { ...common, ...text } };
  if (kind === 'sticker') return { stickerMessage: common };
  if (kind === 'audio') {
    return { audioMessage: { ...common, ptt: voice === true, seconds: seconds ?? 1 } };
  }
  const documentMessage = { ...common, ...text, fileName: fileName ?? 'file' };
  if (caption === undefined) return { documentMessage };
  // A document with words comes in a wrapper of its own.
  return { documentWithCaptionMessage: { message: { documentMessage } } };
}

/**
 * What a person finds in a file that the bot sent.
 * @throws Error when it is not on the host, or was changed there.
 */
export function openAttachment(host: MediaHost, attachment: Attachment): Promise<Buffer> {
  const { kind, directPath = '', mediaKey } = attachment;
  const stored = host.read(directPath);
  if (stored === undefined || mediaKey === undefined)
    throw new Error('This file is not on the host');
  return openFile(kind, stored, mediaKey);
}
