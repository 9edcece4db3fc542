import type { Attachment } from '@parley/contracts';
import { normalizeMessageContent, proto } from '@whiskeysockets/baileys';
import { described } from './described.ts';
import { attachmentIn, type MediaPlace } from './media-ref.ts';

/** What a message shows to people. */
export interface Shown {
  readonly text: string;
  readonly context: proto.IContextInfo | undefined;
  readonly attachment: Attachment | undefined;
  /** Messages with the same one were chosen and sent together. */
  readonly albumId: string | undefined;
}

/** What a message does to an earlier one of the same chat. */
export type Change =
  | { readonly kind: 'edited'; readonly id: string; readonly content: proto.IMessage }
  | { readonly kind: 'deleted'; readonly id: string };

const { AssociationType } = proto.MessageAssociation;
/** The same picture or film once more, in another quality. */
const SECOND_COPIES: ReadonlySet<number> = new Set([
  AssociationType.HD_IMAGE_DUAL_UPLOAD,
  AssociationType.HD_VIDEO_DUAL_UPLOAD,
  AssociationType.HEVC_VIDEO_DUAL_UPLOAD,
  AssociationType.MOTION_PHOTO,
]);

/** What is shown: text, a choice from a list, a file with or without words. Undefined: nothing. */
export function shownIn(wrapped: proto.IMessage, place: MediaPlace): Shown | undefined {
  const content = normalizeMessageContent(wrapped);
  // Null where a wrapper is empty, whatever Baileys' types say.
  if (content == null) return undefined;
  const album = associationOf(wrapped, content);
  if (SECOND_COPIES.has(album?.associationType ?? 0)) return undefined;
  const attachment = attachmentIn(content, place);
  const text = textOf(content);
  if (text === '' && attachment === undefined) return undefined;
  const isAlbum = album?.associationType === AssociationType.MEDIA_ALBUM;
  const albumId = (isAlbum && album.parentMessageKey?.id) || undefined;
  const context = contextOf(content);
  return { text: withOrigin(text, context), context, attachment, albumId };
}

/** An edit or a deletion; undefined for everything else. */
export function changeIn(wrapped: proto.IMessage): Change | undefined {
  const protocol = normalizeMessageContent(wrapped)?.protocolMessage;
  const id = protocol?.key?.id;
  if (!protocol || !id) return undefined;
  const { REVOKE, MESSAGE_EDIT } = proto.Message.ProtocolMessage.Type;
  // The wire leaves out the number 0, which is that of a deletion.
  if ((protocol.type ?? REVOKE) === REVOKE) return { kind: 'deleted', id };
  if (protocol.type !== MESSAGE_EDIT || !protocol.editedMessage) return undefined;
  return { kind: 'edited', id, content: protocol.editedMessage };
}

/** Forwarded words are somebody else's: they command nothing, and are no wish of who passes them on. */
function withOrigin(text: string, context: proto.IContextInfo | undefined): string {
  return text !== '' && context?.isForwarded === true ? `[Forwarded]\n${text}` : text;
}

/** The words of a message; empty where there are none. */
function textOf(content: proto.IMessage): string {
  return (
    content.conversation ||
    content.extendedTextMessage?.text ||
    content.imageMessage?.caption ||
    content.videoMessage?.caption ||
    content.documentMessage?.caption ||
    content.buttonsResponseMessage?.selectedDisplayText ||
    content.listResponseMessage?.title ||
    content.templateButtonReplyMessage?.selectedDisplayText ||
    described(content)
  );
}

/** Whom it mentions and what it answers. */
function contextOf(content: proto.IMessage): proto.IContextInfo | undefined {
  const holder =
    content.extendedTextMessage ??
    content.imageMessage ??
    content.videoMessage ??
    content.ptvMessage ??
    content.audioMessage ??
    content.documentMessage ??
    content.stickerMessage ??
    content.buttonsResponseMessage ??
    content.listResponseMessage ??
    content.templateButtonReplyMessage ??
    content.locationMessage ??
    content.contactMessage;
  return holder?.contextInfo ?? undefined;
}

/** It stands beside the outermost wrapper, or inside. */
function associationOf(
  wrapped: proto.IMessage,
  content: proto.IMessage,
): proto.IMessageAssociation | undefined {
  const outer = wrapped.messageContextInfo?.messageAssociation;
  return outer ?? content.messageContextInfo?.messageAssociation ?? undefined;
}
