import { type CommandInfo, isCommand, parseCommand } from '@parley/channels';
import { type Attachment, type Authored, InboundMessage, InboundReaction } from '@parley/core';
import { normalizeMessageContent, proto } from '@whiskeysockets/baileys';
import { z } from 'zod';
import { attachmentIn, type MediaPlace } from './files.ts';
import { isGroup, isPerson, type PersonIds, personJid, publicId } from './people.ts';

/** A decrypted message with its envelope. */
export interface RawMessage {
  /** A person, a group, or something else that is ignored. */
  readonly chat: string;
  readonly id: string;
  /** Which member of a group has sent it, as the envelope says. */
  readonly participant?: string | undefined;
  /** All known ids of the sender. */
  readonly from: PersonIds;
  /** The sender's own display name. */
  readonly name: string;
  /** Seconds since 1970. */
  readonly time: number;
  readonly content: proto.IMessage;
}

/** Facts beside the message. */
interface MessageFacts {
  readonly account: string;
  /** The ids of the account. */
  readonly me: PersonIds;
  /** The sender's JID for the core; see `Contacts`. */
  readonly sender: string;
  /** Title of the group, if known. */
  readonly title?: string | undefined;
  /** JIDs for the core of people the message names, by the JIDs in the message. */
  readonly people: ReadonlyMap<string, string>;
  /** Commands beside the core's own; a command addresses the bot. */
  readonly commands?: readonly CommandInfo[] | undefined;
}

/** Whether this is another person's message in a chat: not a channel, a status, a list, or our own. */
export function isForUs({ chat, from }: RawMessage, me: PersonIds): boolean {
  if (from.pn === undefined && from.lid === undefined) return false;
  if (isPerson(from.pn, me) || isPerson(from.lid, me)) return false;
  return isGroup(chat) || personJid(chat) !== undefined;
}

/** The chat for the core: one person is one chat, whichever of their ids the message has. */
export function chatIdOf(chat: string, sender: string): string {
  return isGroup(chat) ? chat : sender;
}

/** The JIDs of people that a message mentions or replies to, without devices. */
export function peopleIn(message: RawMessage): string[] {
  const context = visibleContent(message.content, placeOf(message))?.context;
  const named = [...(context?.mentionedJid ?? []), context?.participant];
  return named.map(personJid).filter((jid) => jid !== undefined);
}

/** Normalises a WhatsApp message (F01); undefined for keys, receipts and reactions, which show nothing. */
export function toInbound(message: RawMessage, known: MessageFacts): InboundMessage | undefined {
  const shown = visibleContent(message.content, placeOf(message));
  if (shown === undefined) return undefined;
  const { text, attachment, albumId } = shown;
  const direct = !isGroup(message.chat);
  const checked = InboundMessage.safeParse({
    ...placeAndSender(message, known),
    messageId: message.id,
    text,
    authored: authoredIn(shown, message, known),
    ...(attachment === undefined ? {} : { attachments: [attachment] }),
    ...(albumId === undefined ? {} : { albumId }),
    ...replyOf(shown, known),
    mentions: mentionsOf(shown, known),
    addressed: direct || isAddressed(shown, known),
    sentAt: message.time * 1000,
    variables: {},
  });
  return checked.success ? checked.data : undefined;
}

/** A person has one reaction to a message; undefined for what is none. */
export function toReaction(message: RawMessage, known: MessageFacts): InboundReaction | undefined {
  const reaction = normalizeMessageContent(message.content)?.reactionMessage;
  if (!reaction) return undefined;
  const checked = InboundReaction.safeParse({
    ...placeAndSender(message, known),
    messageId: reaction.key?.id,
    emojis: reaction.text ? [reaction.text] : [],
    // The server's second; the sender's clock tells two reactions within it apart.
    sentAt: message.time * 1000 + (Math.abs(Number(reaction.senderTimestampMs ?? 0)) % 1000),
  });
  return checked.success ? checked.data : undefined;
}

function placeAndSender(message: RawMessage, { account, title, sender }: MessageFacts) {
  return {
    channel: 'whatsapp',
    account,
    chat: {
      id: chatIdOf(message.chat, sender),
      type: isGroup(message.chat) ? 'group' : 'direct',
      ...(title === undefined ? {} : { title }),
    },
    sender: {
      id: publicId(sender),
      name: message.name,
      ...otherName(message, sender),
      isBot: false,
    },
  };
}

/** The same message with an edited text; what the edit does not mention stays, above all files. */
export function withEdit(
  old: InboundMessage,
  content: proto.IMessage,
  known: Pick<MessageFacts, 'me' | 'people' | 'commands'>,
): InboundMessage | undefined {
  const shown = visibleContent(content, { chat: old.chat.id, id: old.messageId });
  const text = shown?.text ?? '';
  if (text === '' && old.attachments === undefined) return undefined;
  const addressed = old.addressed || (shown !== undefined && isAddressed(shown, known));
  const mentions = shown ? mentionsOf(shown, known) : old.mentions;
  return { ...old, text, authored: authoredAfterEdit(old, shown), addressed, mentions };
}

/** An edit makes nothing of others the sender's own: what was passed on stays so. */
function authoredAfterEdit(
  { authored: { text: wasTyped, ...rest } = {}, text: oldText }: InboundMessage,
  shown: Shown | undefined,
): Authored {
  const mayBeTyped = wasTyped === true || oldText === '';
  return { ...rest, ...(mayBeTyped && shown?.isTyped === true && { text: true }) };
}

/** What the sender typed or spoke. A quotation counts where it is of their own text, or of ours in a direct chat. */
function authoredIn(
  { isTyped, context, attachment }: Shown,
  { chat, from }: Pick<RawMessage, 'chat' | 'from'>,
  { me }: Pick<MessageFacts, 'me'>,
): Authored {
  const quoted = context?.quotedMessage && visibleContent(context.quotedMessage, NOWHERE);
  const isTheirs =
    isPerson(context?.participant, from) || (!isGroup(chat) && isPerson(context?.participant, me));
  return {
    ...(isTyped && { text: true }),
    ...(attachment?.kind === 'voice' && !isPassedOn(context) && { voice: true }),
    ...(quoted?.isTyped === true && isTheirs && { quote: true }),
  };
}

/** The files of a quotation are not fetched. */
const NOWHERE: MediaPlace = { chat: '', id: '' };

function placeOf({ chat, id, from }: RawMessage) {
  const sender = from.lid ?? from.pn;
  return isGroup(chat) && sender !== undefined ? { chat, id, writer: sender } : { chat, id };
}

/** The person's other id. */
function otherName({ from }: RawMessage, sender: string): { readonly username?: string } {
  const other = sender === from.lid ? from.pn : from.lid;
  return other === undefined ? {} : { username: publicId(other) };
}

function isAddressed(
  { text, context }: Shown,
  { me, commands = [] }: Pick<MessageFacts, 'me' | 'commands'>,
): boolean {
  const isNamed = context?.mentionedJid?.some((jid) => isPerson(jid, me)) === true;
  const isOurs = parseCommand(text) !== null || isCommand(text, commands);
  return isNamed || isOurs || isPerson(context?.participant, me);
}

function mentionsOf({ context }: Shown, { people }: Pick<MessageFacts, 'people'>): string[] {
  const jids = (context?.mentionedJid ?? []).map(personJid).filter((jid) => jid !== undefined);
  return [...new Set(jids.map((jid) => publicId(people.get(jid) ?? jid)))];
}

function replyOf({ context }: Shown, { people }: MessageFacts): Pick<InboundMessage, 'replyTo'> {
  if (!context?.stanzaId) return {};
  const sender = personJid(context.participant);
  const text = context.quotedMessage ? visibleContent(context.quotedMessage, NOWHERE)?.text : '';
  return {
    replyTo: {
      messageId: context.stanzaId,
      ...(sender === undefined ? {} : { senderId: publicId(people.get(sender) ?? sender) }),
      ...(text ? { text } : {}),
    },
  };
}

/** The visible content of a message. */
interface Shown {
  readonly text: string;
  /** Its sender typed the text, which is not what they passed on, chose from a list, or picked in the app. */
  readonly isTyped: boolean;
  readonly context: proto.IContextInfo | undefined;
  readonly attachment: Attachment | undefined;
  /** Messages with the same id were sent together. */
  readonly albumId: string | undefined;
}

/** What a message does to an earlier one of the same chat. */
export type Change =
  | { readonly kind: 'edited'; readonly id: string; readonly content: proto.IMessage }
  | { readonly kind: 'deleted'; readonly id: string };

const { AssociationType } = proto.MessageAssociation;
/** The same picture or video again, in another quality. */
const SECOND_COPIES: ReadonlySet<number> = new Set([
  AssociationType.HD_IMAGE_DUAL_UPLOAD,
  AssociationType.HD_VIDEO_DUAL_UPLOAD,
  AssociationType.HEVC_VIDEO_DUAL_UPLOAD,
  AssociationType.MOTION_PHOTO,
]);

/** The visible content: text, a choice from a list, a file with or without a caption. Undefined: nothing. */
function visibleContent(wrapped: proto.IMessage, place: MediaPlace): Shown | undefined {
  const content = normalizeMessageContent(wrapped);
  // Null where a wrapper is empty, whatever Baileys' types say.
  if (content == null) return undefined;
  const album = associationOf(wrapped, content);
  if (SECOND_COPIES.has(album?.associationType ?? 0)) return undefined;
  const attachment = attachmentIn(content, place);
  const typed = typedIn(content) ?? '';
  const text = typed || choiceIn(content) || descriptionOf(content);
  if (text === '' && attachment === undefined) return undefined;
  const isAlbum = album?.associationType === AssociationType.MEDIA_ALBUM;
  const albumId = (isAlbum && album.parentMessageKey?.id) || undefined;
  const context = contextOf(content);
  const isTyped = typed !== '' && !isPassedOn(context);
  return { text: withOrigin(text, context), isTyped, context, attachment, albumId };
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

/** Forwarded text is marked: it is another person's, neither a command nor a request of the sender. */
function withOrigin(text: string, context: proto.IContextInfo | undefined): string {
  return text !== '' && context?.isForwarded === true ? `[Forwarded]\n${text}` : text;
}

/** Forwarded by the sender, or taken over from a channel or an assistant of the platform. */
function isPassedOn(context: proto.IContextInfo | undefined): boolean {
  if (context === undefined) return false;
  const { isForwarded, forwardingScore } = context;
  const { forwardedNewsletterMessageInfo, forwardedAiBotMessageInfo } = context;
  const from = forwardedNewsletterMessageInfo ?? forwardedAiBotMessageInfo;
  return isForwarded === true || (forwardingScore ?? 0) > 0 || from != null;
}

/** What was written in the text field: a message of its own, or below a file. */
function typedIn(content: proto.IMessage): string | null | undefined {
  return (
    content.conversation ||
    content.extendedTextMessage?.text ||
    content.imageMessage?.caption ||
    content.videoMessage?.caption ||
    content.documentMessage?.caption
  );
}

/**
 * What was chosen below a message of a business: as the person saw it, else its id. Parley sends no such messages:
 * phones do not show those of programs, so its own choices are numbered text.
 */
function choiceIn(content: proto.IMessage): string | null | undefined {
  const { buttonsResponseMessage: button, listResponseMessage: list } = content;
  const { templateButtonReplyMessage: reply, interactiveResponseMessage: answer } = content;
  if (button) return button.selectedDisplayText || button.selectedButtonId;
  if (list) return list.title || list.description || list.singleSelectReply?.selectedRowId;
  if (reply) return reply.selectedDisplayText || reply.selectedId;
  return answer?.body?.text || chosenId(answer?.nativeFlowResponseMessage?.paramsJson);
}

const Flow = z.looseObject({ id: z.string() });

/** A choice without a text of its own: the JSON of the sender's app has an id. */
function chosenId(json: string | null | undefined): string | undefined {
  try {
    return Flow.safeParse(JSON.parse(json ?? '')).data?.id;
  } catch {
    return undefined;
  }
}

/** Mentions and the message it replies to. */
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
    content.interactiveResponseMessage ??
    content.locationMessage ??
    content.contactMessage;
  return holder?.contextInfo ?? undefined;
}

/** It is beside the outermost wrapper, or inside. */
function associationOf(
  wrapped: proto.IMessage,
  content: proto.IMessage,
): proto.IMessageAssociation | undefined {
  const outer = wrapped.messageContextInfo?.messageAssociation;
  return outer ?? content.messageContextInfo?.messageAssociation ?? undefined;
}

/** Lines of a contact that matter to a reader; the rest are pictures and data of the app. */
const CONTACT_LINES = /^(?:item\d+\.)?(TEL|EMAIL|ORG)\b[^:]*:(.+)$/gim;

/**
 * Locations, contacts and polls as text, so that they are answered instead of being ignored; empty for
 * everything else.
 */
export function descriptionOf(content: proto.IMessage): string {
  const { locationMessage, liveLocationMessage, contactMessage, contactsArrayMessage } = content;
  const place = locationMessage ?? liveLocationMessage;
  if (place) return placeIn(place, locationMessage);
  const contacts = contactMessage ? [contactMessage] : (contactsArrayMessage?.contacts ?? []);
  if (contacts.length > 0) return contacts.map(contactIn).join('\n');
  const { pollCreationMessage, pollCreationMessageV2, pollCreationMessageV3 } = content;
  const poll = pollCreationMessage ?? pollCreationMessageV2 ?? pollCreationMessageV3;
  return poll ? pollIn(poll) : '';
}

function placeIn(
  { degreesLatitude, degreesLongitude }: proto.Message.ILocationMessage,
  named: proto.Message.ILocationMessage | null | undefined,
): string {
  const name = [named?.name, named?.address].filter(Boolean).join(', ');
  const at = `${(degreesLatitude ?? 0).toFixed(5)}, ${(degreesLongitude ?? 0).toFixed(5)}`;
  return `[Location: ${name === '' ? at : `${name} (${at})`}]`;
}

function contactIn({ displayName, vcard }: proto.Message.IContactMessage): string {
  const details = [...(vcard ?? '').matchAll(CONTACT_LINES)].map(([, , value = '']) =>
    value.trim(),
  );
  return `[Contact: ${[displayName ?? '', ...details].filter((part) => part !== '').join(', ')}]`;
}

function pollIn({ name, options }: proto.Message.IPollCreationMessage): string {
  const choices = (options ?? []).map(({ optionName }) => `- ${optionName ?? ''}`);
  return [`[Poll: ${name ?? ''}]`, ...choices].join('\n');
}
