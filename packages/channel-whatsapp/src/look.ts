import type { Attachment } from '@parley/core';
import { proto } from '@whiskeysockets/baileys';
import {
  type FieldKinds,
  KINDS,
  PROTOCOL_KINDS,
  type ProtocolKind,
  type ProtocolType,
} from './kinds/kinds.ts';
import { describeAlbum } from './kinds/media.ts';
import type { ExternalText, FieldKind, KindContent } from './kinds/reading.ts';
import { describeFile, type MediaMessage, toAttachment } from './media-ref.ts';

export interface VisibleContent {
  /**
   * The text that the sender typed or, if there is none, a description of the content; empty if
   * there is only a file.
   */
  readonly words: string;
  /** The names, with articles, of unreadable content. */
  readonly unread: readonly string[];
  /**
   * Whether the sender typed the text, instead of forwarding it, choosing it from a list, or
   * picking it in the app.
   */
  readonly isTyped: boolean;
  readonly files: readonly Attachment[];
  readonly context: proto.IContextInfo | undefined;
  /** The id of the album to which the message belongs. */
  readonly albumId: string | undefined;
  /** Text that is shown with the message but was not written by the sender. */
  readonly beside: readonly ExternalText[];
  /** The message to which a comment belongs, if the comment has no quotation. */
  readonly target: proto.IMessageKey | undefined;
}

export type ReadResult =
  | { readonly kind: 'shown'; readonly shown: VisibleContent }
  /** A message without content from a person; it is recorded only if there is a reason. */
  | { readonly kind: 'nothing'; readonly reason?: string };

/** The maximum number of nested wrappers that are opened; apps use three. */
const MAX_WRAPPERS = 8;

/** A message without its wrappers. */
interface UnwrappedMessage {
  readonly content: proto.IMessage;
  /** The innermost wrapper's name; undefined if there was no wrapper. */
  readonly holds: string | undefined;
  readonly isViewOnce: boolean;
  readonly isUnreadable: boolean;
  readonly origin: string | undefined;
  readonly target: proto.IMessageKey | undefined;
}

/**
 * Opens all wrappers, because Baileys opens only half of them. An empty wrapper results in an empty
 * message.
 */
export function unwrapMessage(wrapped: proto.IMessage): UnwrappedMessage {
  let opened: UnwrappedMessage = {
    content: wrapped,
    holds: undefined,
    isViewOnce: false,
    isUnreadable: false,
    origin: undefined,
    target: undefined,
  };
  for (let depth = 0; depth < MAX_WRAPPERS; depth += 1) {
    const next = unwrapOnce(opened);
    if (next === undefined) return opened;
    opened = next;
  }
  return { ...opened, content: {} };
}

function unwrapOnce({ content, ...outer }: UnwrappedMessage): UnwrappedMessage | undefined {
  for (const field of listFields(content)) {
    const kind: FieldKind<never> = KINDS[field];
    const inside = content[field];
    if (kind.is !== 'wrapper' || typeof inside !== 'object' || inside === null) continue;
    const message = 'message' in inside ? inside.message : undefined;
    const isMessage = typeof message === 'object' && message !== null;
    // Fields beside a wrapper belong to the same message.
    const { [field]: _opened, ...beside } = content;
    const target = 'targetMessageKey' in inside ? inside.targetMessageKey : undefined;
    return {
      content: { ...beside, ...(isMessage && message) },
      holds: kind.holds,
      isViewOnce: outer.isViewOnce || kind.isViewOnce === true,
      isUnreadable: outer.isUnreadable || kind.isUnreadable === true,
      origin: outer.origin ?? kind.origin,
      target: outer.target ?? target ?? undefined,
    };
  }
  return undefined;
}

type MessageField = keyof FieldKinds;

function isField(name: string): name is MessageField {
  return Object.hasOwn(KINDS, name);
}

/** The names of a message's fields, in encoding order. */
function listFields(content: proto.IMessage): MessageField[] {
  const isThere = (name: MessageField) => content[name] !== null && content[name] !== undefined;
  return Object.keys(content).filter(isField).filter(isThere);
}

const { AssociationType } = proto.MessageAssociation;
/** Associations that mark the same picture or video in another quality. */
const SECOND_COPIES: ReadonlySet<number> = new Set([
  AssociationType.HD_IMAGE_DUAL_UPLOAD,
  AssociationType.HD_VIDEO_DUAL_UPLOAD,
  AssociationType.HEVC_VIDEO_DUAL_UPLOAD,
  AssociationType.MOTION_PHOTO,
]);

/** Reads everything that a message shows, inside any number of wrappers. */
export function readMessageContent(wrapped: proto.IMessage, place: MediaMessage): ReadResult {
  const opened = unwrapMessage(wrapped);
  const { content } = opened;
  const album = findAssociation(wrapped, content);
  if (SECOND_COPIES.has(album?.associationType ?? 0)) {
    return { kind: 'nothing', reason: 'the same picture or video in another quality' };
  }
  const readings = readAllFields(content);
  if (readings.length === 0) return explainEmptyMessage(opened);
  const isAlbum = album?.associationType === AssociationType.MEDIA_ALBUM;
  const albumId = (isAlbum && album.parentMessageKey?.id) || undefined;
  const shown = combineContents(readings, opened, place);
  if (!isEmptyContent(shown)) return { kind: 'shown', shown: { ...shown, albumId } };
  const isText = listFields(content).some((field) => TEXTS.has(field));
  return isText ? explainEmptyMessage(opened) : createUnreadableResult('a message without content');
}

/** A message without text may still contain a quotation, or come from an advertisement. */
function isEmptyContent({ words, files, unread, beside, context }: VisibleContent): boolean {
  const quotes = context?.quotedMessage ?? context?.externalAdReply ?? context?.quotedAd;
  return words === '' && files.length + unread.length + beside.length === 0 && quotes == null;
}

/**
 * Fields in which an empty string means that there is nothing. If any other field is empty, it
 * still represents content that the sender saw.
 */
const TEXTS: ReadonlySet<MessageField> = new Set(['conversation', 'extendedTextMessage']);

/**
 * Reads a message without text, files or names. A wrapper is described by its kind, and internal
 * data by its reason.
 */
function explainEmptyMessage({ content, holds, target }: UnwrappedMessage): ReadResult {
  const fields = listFields(content);
  const reasons = fields.flatMap((field) => {
    const kind: FieldKind<never> = KINDS[field];
    return kind.is === 'ignored' ? [kind.reason] : [];
  });
  const protocol = content.protocolMessage && findProtocolKind(content.protocolMessage);
  const isChange = fields.some((field) => KINDS[field].is === 'change');
  const ofProtocol = protocol?.is === 'ignored' ? protocol.reason : undefined;
  const reason = reasons[0] ?? ofProtocol ?? (isChange ? AIMLESS : undefined);
  if (reason !== undefined) return { kind: 'nothing', reason };
  const isEmpty = fields.every((field) => KINDS[field].is === 'silent');
  if (holds === undefined || !isEmpty) return { kind: 'nothing' };
  return { kind: 'shown', shown: { ...NOTHING, unread: [holds], target } };
}

const AIMLESS = 'a change or a reaction that names no message';

const NOTHING: VisibleContent = {
  words: '',
  unread: [],
  isTyped: false,
  files: [],
  context: undefined,
  albumId: undefined,
  beside: [],
  target: undefined,
};

/** A message of which only the name is known. */
export function createUnreadableResult(what: string): ReadResult {
  return { kind: 'shown', shown: { ...NOTHING, unread: [what] } };
}

/**
 * Reads a quoted message. Some kinds can be read only in a quotation: an album's files are in other
 * messages.
 */
export function readQuotedMessage(
  wrapped: proto.IMessage,
  place: MediaMessage,
): VisibleContent | undefined {
  const look = readMessageContent(wrapped, place);
  if (look.kind === 'shown') return look.shown;
  const { albumMessage, protocolMessage } = unwrapMessage(wrapped).content;
  // Some apps quote an edited message by quoting its edit.
  const edited =
    protocolMessage?.editedMessage && readMessageContent(protocolMessage.editedMessage, place);
  if (edited?.kind === 'shown') return edited.shown;
  return albumMessage ? { ...NOTHING, unread: [describeAlbum(albumMessage)] } : undefined;
}

function readAllFields(content: proto.IMessage): KindContent[] {
  const readings = listFields(content).flatMap((field) => readField(content, field));
  const protocol = content.protocolMessage && findProtocolKind(content.protocolMessage);
  return protocol?.is === 'named' ? [...readings, { unread: protocol.what }] : readings;
}

function readField<Name extends MessageField>(content: proto.IMessage, field: Name): KindContent[] {
  const kind: FieldKinds[Name] = KINDS[field];
  const value: proto.IMessage[Name] = content[field];
  if (value === null || value === undefined) return [];
  return kind.is === 'read' || kind.is === 'named' ? [kind.read(value)] : [];
}

function isProtocolType(name: string | undefined): name is ProtocolType {
  return name !== undefined && Object.hasOwn(PROTOCOL_KINDS, name);
}

const NEWER: ProtocolKind = { is: 'ignored', reason: 'a change that is newer than Parley' };

/** The number 0, which means a deletion, is omitted in the encoding. */
function findProtocolKind({ type }: proto.Message.IProtocolMessage): ProtocolKind {
  const { Type } = proto.Message.ProtocolMessage;
  const name: string | undefined = Type[type ?? Type.REVOKE];
  return isProtocolType(name) ? PROTOCOL_KINDS[name] : NEWER;
}

function combineContents(
  readings: readonly KindContent[],
  opened: UnwrappedMessage,
  place: MediaMessage,
): VisibleContent {
  const context = markForwarded(findContextInfo(opened.content), opened.origin);
  const isViewOnce = opened.isViewOnce || readings.some((reading) => reading.isViewOnce === true);
  const found = readings.flatMap(({ files = [] }) => files);
  const files = found.map((file) => toAttachment(file, place, isViewOnce));
  const isUnreadable = opened.isUnreadable && found.length > 0;
  const unread = [
    ...readings.flatMap((reading) => reading.unread ?? []),
    // A file without its key or address cannot be downloaded.
    ...found.flatMap(({ shownAs: kind }, at) =>
      files[at] || isUnreadable
        ? []
        : [`a ${describeFile({ kind, viewOnce: isViewOnce || undefined })}`],
    ),
    ...(isUnreadable && opened.holds !== undefined ? [opened.holds] : []),
  ];
  const typed = joinTexts(readings.map((reading) => reading.typed));
  const words = joinTexts([typed, ...readings.map((reading) => reading.shown)]);
  return {
    words,
    unread: [...new Set(unread)],
    isTyped: typed !== '' && typed === words && !isForwarded(context),
    files: isUnreadable ? [] : files.filter((file) => file !== undefined),
    context,
    albumId: undefined,
    beside: readings.flatMap(({ beside }) => beside ?? []),
    target: opened.target,
  };
}

function joinTexts(texts: readonly (string | null | undefined)[]): string {
  return texts.filter((text) => typeof text === 'string' && text !== '').join('\n');
}

/** The context of unwrapped content: mentions, the quoted message and everything else. */
export function findContextInfo(content: proto.IMessage): proto.IContextInfo | undefined {
  for (const field of listFields(content)) {
    const value = content[field];
    if (typeof value !== 'object' || value === null || !('contextInfo' in value)) continue;
    if (value.contextInfo) return value.contextInfo;
  }
  return undefined;
}

function markForwarded(
  context: proto.IContextInfo | undefined,
  origin: string | undefined,
): proto.IContextInfo | undefined {
  return origin === undefined ? context : { ...context, isForwarded: true };
}

/**
 * Whether the sender forwarded the message, or copied it from a channel or from one of the
 * platform's assistants.
 */
export function isForwarded(context: proto.IContextInfo | undefined): boolean {
  if (context === undefined) return false;
  const { isForwarded, forwardingScore } = context;
  const { forwardedNewsletterMessageInfo, forwardedAiBotMessageInfo } = context;
  const from = forwardedNewsletterMessageInfo ?? forwardedAiBotMessageInfo;
  return isForwarded === true || (forwardingScore ?? 0) > 0 || from != null;
}

/** A message's association, which is beside the outermost wrapper or inside it. */
function findAssociation(
  wrapped: proto.IMessage,
  content: proto.IMessage,
): proto.IMessageAssociation | undefined {
  const outer = wrapped.messageContextInfo?.messageAssociation;
  return outer ?? content.messageContextInfo?.messageAssociation ?? undefined;
}
