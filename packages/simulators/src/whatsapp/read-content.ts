import { normalizeMessageContent, proto } from '@whiskeysockets/baileys';

/** A file as described in a message; the bytes are on the media host. */
export interface Attachment {
  readonly kind: 'image' | 'video' | 'audio' | 'document' | 'sticker';
  readonly mimetype: string | undefined;
  readonly fileName: string | undefined;
  readonly voice: boolean;
  readonly seconds: number | undefined;
  readonly directPath: string | undefined;
  readonly mediaKey: Uint8Array | undefined;
  readonly fileSha256: Uint8Array | undefined;
}

/** The visible content of a message: text, a file, or both. */
export interface VisibleContent {
  readonly kind: 'message';
  readonly text: string;
  /** The mentioned people, as JIDs in the form used in the message. */
  readonly mentions: readonly string[];
  readonly quoted?: string;
  readonly attachment?: Attachment;
  /** The seconds until the message disappears. */
  readonly expiration?: number;
}

/** The effect of a message on the chat. */
export type MessageContent =
  | VisibleContent
  | { readonly kind: 'edit'; readonly id: string; readonly shown: VisibleContent }
  | { readonly kind: 'delete'; readonly id: string }
  | { readonly kind: 'reaction'; readonly id: string; readonly emoji: string }
  /** A message without visible content, such as keys or settings. */
  | { readonly kind: 'silent' };

const FILES = [
  ['image', 'imageMessage'],
  ['video', 'videoMessage'],
  ['audio', 'audioMessage'],
  ['document', 'documentMessage'],
  ['sticker', 'stickerMessage'],
] as const;

/** Interprets a message as phones do. */
export function parseMessageContent(message: proto.IMessage): MessageContent {
  const content = normalizeMessageContent(message) ?? {};
  const { reactionMessage, protocolMessage } = content;
  if (reactionMessage != null) {
    return {
      kind: 'reaction',
      id: reactionMessage.key?.id ?? '',
      emoji: reactionMessage.text ?? '',
    };
  }
  if (protocolMessage != null) return parseProtocolMessage(protocolMessage);
  const shown = readVisibleContent(content);
  return shown.text === '' && shown.attachment === undefined ? { kind: 'silent' } : shown;
}

function parseProtocolMessage({
  type,
  key,
  editedMessage,
}: proto.Message.IProtocolMessage): MessageContent {
  const id = key?.id ?? '';
  const { REVOKE, MESSAGE_EDIT } = proto.Message.ProtocolMessage.Type;
  // Revocation is type 0, which protobuf omits.
  if ((type ?? REVOKE) === REVOKE) return { kind: 'delete', id };
  if (type !== MESSAGE_EDIT) return { kind: 'silent' };
  return {
    kind: 'edit',
    id,
    shown: readVisibleContent(normalizeMessageContent(editedMessage ?? {}) ?? {}),
  };
}

function readVisibleContent(content: proto.IMessage): VisibleContent {
  const attachment = parseAttachment(content);
  const context = getContextInfo(content);
  return {
    kind: 'message',
    text: getContentText(content),
    mentions: context?.mentionedJid ?? [],
    ...(context?.stanzaId ? { quoted: context.stanzaId } : {}),
    ...(context?.expiration ? { expiration: context.expiration } : {}),
    ...(attachment === undefined ? {} : { attachment }),
  };
}

function getContentText(content: proto.IMessage): string {
  return (
    content.conversation ||
    content.extendedTextMessage?.text ||
    content.imageMessage?.caption ||
    content.videoMessage?.caption ||
    content.documentMessage?.caption ||
    ''
  );
}

function getContextInfo(content: proto.IMessage): proto.IContextInfo | null | undefined {
  const holder =
    content.extendedTextMessage ??
    content.imageMessage ??
    content.videoMessage ??
    content.audioMessage ??
    content.documentMessage ??
    content.stickerMessage;
  return holder?.contextInfo;
}

function parseAttachment(content: proto.IMessage): Attachment | undefined {
  for (const [kind, field] of FILES) {
    const file = content[field];
    if (file == null) continue;
    return {
      kind,
      mimetype: file.mimetype ?? undefined,
      fileName: content.documentMessage?.fileName ?? undefined,
      voice: content.audioMessage?.ptt === true,
      seconds: content.audioMessage?.seconds ?? undefined,
      directPath: file.directPath ?? undefined,
      mediaKey: file.mediaKey ?? undefined,
      fileSha256: file.fileSha256 ?? undefined,
    };
  }
  return undefined;
}
