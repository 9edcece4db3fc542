import { type CommandInfo, describeUnreadContent, isCommand, parseCommand } from '@parley/channels';
import { type Authored, type ChatType, InboundMessage, InboundReaction } from '@parley/core';
import { proto } from '@whiskeysockets/baileys';
import {
  createUnreadableResult,
  isForwarded,
  type ReadResult,
  readMessageContent,
  readQuotedMessage,
  unwrapMessage,
  type VisibleContent,
} from './look.ts';
import { mentionsPerson, replaceMentions, shortenName } from './mentions.ts';
import { isGroup, isPerson, type PersonIds, toPersonJid, toPublicId } from './people.ts';
import {
  getQuotation,
  getQuotedMessage,
  getReply,
  isValidId,
  type QuoteContext,
  type QuotedMessage,
  selectFiles,
} from './quoted.ts';

/** A decrypted message and its envelope. */
export interface RawMessage {
  /** The person or group from which the message came; messages from anywhere else are ignored. */
  readonly chat: string;
  readonly id: string;
  /** The group member who sent the message, according to the envelope. */
  readonly participant?: string | undefined;
  readonly from: PersonIds;
  /** The sender's own display name. */
  readonly name: string;
  /** A Unix time in seconds. */
  readonly time: number;
  readonly content: proto.IMessage;
  /** A name, with an article, for content that cannot be read. */
  readonly unread?: string | undefined;
  /**
   * Set for events that are not WhatsApp messages, such as calls, and therefore cannot be marked as
   * read.
   */
  readonly isNotice?: true;
}

/** Information that is needed in addition to the message. */
interface MessageContext extends Omit<QuoteContext, 'chat'> {
  readonly account: string;
  /** The sender's JID as the core uses it; see `ContactDirectory`. */
  readonly sender: string;
  /** The title of the group, if known. */
  readonly title?: string | undefined;
  /** Commands in addition to the core's own; a command addresses the bot. */
  readonly commands?: readonly CommandInfo[] | undefined;
}

/**
 * A message for the core, or the reason why there is none. Without a reason, nothing is recorded.
 */
export type InboundResult =
  | { readonly kind: 'message'; readonly message: InboundMessage }
  | { readonly kind: 'nothing'; readonly reason?: string };

/**
 * Whether this is another person's message in a chat, and not a message from a channel, a status, a
 * broadcast list or this account.
 */
export function isIncomingMessage({ chat, from }: RawMessage, me: PersonIds): boolean {
  if (from.pn === undefined && from.lid === undefined) return false;
  if (isPerson(from.pn, me) || isPerson(from.lid, me)) return false;
  return isGroup(chat) || toPersonJid(chat) !== undefined;
}

/**
 * The chat id as the core uses it. A person has one chat, regardless of which of their ids the
 * message contains.
 */
export function toChatId(chat: string, sender: string): string {
  return isGroup(chat) ? chat : sender;
}

/**
 * The JIDs, without devices, of people whom a message mentions, to whom it replies, or whom its
 * quotation mentions.
 */
export function listPeople(message: RawMessage): string[] {
  const look = readContent(message);
  const context = look.kind === 'shown' ? look.shown.context : undefined;
  const quoted = context?.quotedMessage && readQuotedMessage(context.quotedMessage, NOWHERE);
  const named = [
    ...(context?.mentionedJid ?? []),
    ...(quoted?.context?.mentionedJid ?? []),
    context?.participant,
    look.kind === 'shown' ? look.shown.target?.participant : undefined,
  ];
  const jids = named.map(toPersonJid).filter((jid) => jid !== undefined);
  return [...new Set(jids)].slice(0, MAX_NAMED);
}

/**
 * The maximum number of people whose number is looked up for one message. The largest groups have
 * four times as many members.
 */
const MAX_NAMED = 256;

const NOWHERE = { chat: '', id: '' };

/** Converts a WhatsApp message into an inbound message (F01). */
export function toInbound(message: RawMessage, known: MessageContext): InboundResult {
  const look = readContent(message);
  if (look.kind === 'nothing') return look;
  const { shown } = look;
  const facts = { ...known, chat: message.chat };
  const quoted = getQuotedMessage(shown.context, facts);
  const type = isGroup(message.chat) ? 'group' : 'direct';
  const files = selectFiles(shown, quoted).slice(0, MAX_FILES);
  const words = renderTextWithOrigin(shown, known);
  const checked = InboundMessage.safeParse({
    ...toChatAndSender(message, known),
    messageId: message.id,
    text: appendUnreadContent(words, shown, type),
    authored: findAuthoredText(shown, quoted, message, known),
    ...(files.length === 0 ? {} : { attachments: files }),
    ...(isValidId(shown.albumId) && { albumId: shown.albumId }),
    ...toCommentReply(shown, known),
    ...getReply(shown.context, quoted, known),
    ...getQuotation(shown, quoted, facts),
    mentions: listMentions(shown, known),
    addressed: type === 'direct' || isAddressed(shown, known),
    sentAt: message.time * 1000,
    variables: {},
  });
  return checked.success
    ? { kind: 'message', message: checked.data }
    : { kind: 'nothing', reason: 'its ids are not valid message ids' };
}

/** The maximum number of files in the channel contract. */
const MAX_FILES = 32;

function readContent(message: RawMessage): ReadResult {
  const { unread, content } = message;
  return unread === undefined
    ? readMessageContent(content, toMediaMessage(message))
    : createUnreadableResult(unread);
}

/** A message's text with names instead of mentions, and with its origin if it was forwarded. */
function renderTextWithOrigin(
  shown: VisibleContent,
  { nameOf }: Pick<MessageContext, 'nameOf'>,
): string {
  const words = replaceMentions(shown.words, shown.context, nameOf);
  const origin = renderOrigin(shown.context);
  const isMarked = origin !== '' && (words !== '' || origin !== '[Forwarded]');
  return isMarked ? [origin, words].filter((part) => part !== '').join('\n') : words;
}

/**
 * Marks forwarded text. It was written by another person, so it is neither a command nor a request
 * from the sender.
 */
function renderOrigin(context: proto.IContextInfo | undefined): string {
  const channel = context?.forwardedNewsletterMessageInfo;
  const assistant = context?.forwardedAiBotMessageInfo;
  const name = shortenName(channel?.newsletterName ?? assistant?.botName ?? '');
  const kind = channel ? 'the channel' : 'the assistant';
  if (name !== '') return `[Forwarded from ${kind} "${name.replaceAll('"', "'")}"]`;
  return isForwarded(context) ? '[Forwarded]' : '';
}

function appendUnreadContent(words: string, { unread }: VisibleContent, type: ChatType): string {
  const names = unread.map((what) => describeUnreadContent(what, type));
  return [words, ...names].filter((part) => part !== '').join('\n');
}

/** The message to which a comment belongs, because comments do not contain a quotation. */
function toCommentReply(
  { target }: VisibleContent,
  { people }: Pick<MessageContext, 'people'>,
): Pick<InboundMessage, 'replyTo'> {
  if (!isValidId(target?.id)) return {};
  const author = toPersonJid(target.participant);
  const senderId = author && toPublicId(people.get(author) ?? author);
  return { replyTo: { messageId: target.id, ...(senderId !== undefined && { senderId }) } };
}

/** The limit in the channel contract, in characters. */
const MAX_EMOJI = 64;

/** Converts a reaction; undefined for anything else. A person has one reaction per message. */
export function toReaction(
  message: RawMessage,
  known: Pick<MessageContext, 'account' | 'title' | 'sender'>,
): InboundReaction | undefined {
  const reaction = unwrapMessage(message.content).content.reactionMessage;
  if (!reaction) return undefined;
  const checked = InboundReaction.safeParse({
    ...toChatAndSender(message, known),
    messageId: reaction.key?.id,
    emojis: reaction.text ? [reaction.text.slice(0, MAX_EMOJI).toWellFormed()] : [],
    // The server's time has a resolution of one second, so the sender's clock determines the order
    // of reactions within a second.
    sentAt: message.time * 1000 + (Math.abs(Number(reaction.senderTimestampMs ?? 0)) % 1000),
  });
  return checked.success ? checked.data : undefined;
}

function toChatAndSender(
  message: RawMessage,
  { account, title, sender }: Pick<MessageContext, 'account' | 'title' | 'sender'>,
) {
  return {
    channel: 'whatsapp',
    account,
    chat: {
      id: toChatId(message.chat, sender),
      type: isGroup(message.chat) ? 'group' : 'direct',
      ...(title === undefined ? {} : { title }),
    },
    sender: {
      id: toPublicId(sender),
      name: message.name,
      ...toUsername(message, sender),
      isBot: false,
    },
  };
}

/**
 * Applies an edited text to a message. Everything that the edit does not contain is kept,
 * especially the files.
 */
export function applyEdit(
  old: InboundMessage,
  content: proto.IMessage,
  known: Pick<MessageContext, 'me' | 'people' | 'commands' | 'nameOf'>,
): InboundMessage | undefined {
  const look = readMessageContent(content, { chat: old.chat.id, id: old.messageId });
  const shown = look.kind === 'shown' ? look.shown : undefined;
  const words = shown === undefined ? '' : renderTextWithOrigin(shown, known);
  // An edit contains a caption but not its file. The file comes from the original message, if it
  // could be read.
  const isNamed = shown !== undefined && old.attachments === undefined;
  const text = isNamed ? appendUnreadContent(words, shown, old.chat.type) : words;
  if (text === '' && old.attachments === undefined) return undefined;
  const addressed = old.addressed || (shown !== undefined && isAddressed(shown, known));
  const mentioned = shown ? listMentions(shown, known) : old.mentions;
  const authored = mergeAuthored(old, shown);
  return { ...old, text, authored, addressed, mentions: mentioned };
}

/**
 * An edit does not turn text written by others into the sender's own, so forwarded text stays
 * marked as forwarded.
 */
function mergeAuthored(
  { authored: { text: wasTyped, ...rest } = {}, text: oldText }: InboundMessage,
  shown: VisibleContent | undefined,
): Authored {
  const mayBeTyped = wasTyped === true || oldText === '';
  return { ...rest, ...(mayBeTyped && shown?.isTyped === true && { text: true }) };
}

/**
 * The text that the sender typed or spoke. A quotation counts if it is the sender's own text or, in
 * a direct chat, the account's text. The recording in a quoted message never counts as spoken.
 */
function findAuthoredText(
  { isTyped, unread, context, files }: VisibleContent,
  quoted: QuotedMessage | undefined,
  { chat, from }: Pick<RawMessage, 'chat' | 'from'>,
  { me }: Pick<MessageContext, 'me'>,
): Authored {
  const isTheirs =
    isPerson(context?.participant, from) || (!isGroup(chat) && isPerson(context?.participant, me));
  const isVoice = files.some(({ kind }) => kind === 'voice') && !isForwarded(context);
  const isHere = quoted?.elsewhere === undefined && isValidId(context?.stanzaId);
  const isQuoteTyped = quoted?.shown?.isTyped === true && quoted.shown.unread.length === 0;
  return {
    ...(isTyped && unread.length === 0 && { text: true }),
    ...(isVoice && { voice: true }),
    ...(isHere && isQuoteTyped && isTheirs && { quote: true }),
  };
}

function toMediaMessage({ chat, id, from }: RawMessage) {
  const sender = from.lid ?? from.pn;
  return isGroup(chat) && sender !== undefined ? { chat, id, writer: sender } : { chat, id };
}

/** The sender's other id, as a username. */
function toUsername({ from }: RawMessage, sender: string): { readonly username?: string } {
  const other = sender === from.lid ? from.pn : from.lid;
  return other === undefined ? {} : { username: toPublicId(other) };
}

function isAddressed(
  { words, context, target }: VisibleContent,
  { me, commands = [] }: Pick<MessageContext, 'me' | 'commands'>,
): boolean {
  const isCalled = parseCommand(words) !== null || isCommand(words, commands);
  const isOurs = isCalled && !isForwarded(context);
  const answers = [context?.participant, target?.participant];
  return mentionsPerson(words, context, me) || isOurs || answers.some((jid) => isPerson(jid, me));
}

function listMentions(
  { context }: VisibleContent,
  { people }: Pick<MessageContext, 'people'>,
): string[] {
  const jids = (context?.mentionedJid ?? []).map(toPersonJid).filter((jid) => jid !== undefined);
  return [...new Set(jids.map((jid) => toPublicId(people.get(jid) ?? jid)))];
}

/** A change to an earlier message in the same chat, or to the chat itself. */
export type ChatChange =
  | { readonly kind: 'edited'; readonly id: string; readonly content: proto.IMessage }
  | { readonly kind: 'deleted'; readonly id: string }
  /** The time (s) after which messages in the chat disappear; 0 if they do not disappear. */
  | { readonly kind: 'expiration'; readonly seconds: number };

/** An edit, a deletion or a new timer; undefined for everything else. */
export function parseChatChange(wrapped: proto.IMessage): ChatChange | undefined {
  const protocol = unwrapMessage(wrapped).content.protocolMessage;
  if (!protocol) return undefined;
  const { REVOKE, MESSAGE_EDIT, EPHEMERAL_SETTING } = proto.Message.ProtocolMessage.Type;
  // The number 0, which means a deletion, is omitted in the encoding.
  const type = protocol.type ?? REVOKE;
  if (type === EPHEMERAL_SETTING) {
    return { kind: 'expiration', seconds: protocol.ephemeralExpiration ?? 0 };
  }
  const id = protocol.key?.id;
  if (!id) return undefined;
  if (type === REVOKE) return { kind: 'deleted', id };
  if (type !== MESSAGE_EDIT || !protocol.editedMessage) return undefined;
  return { kind: 'edited', id, content: protocol.editedMessage };
}
