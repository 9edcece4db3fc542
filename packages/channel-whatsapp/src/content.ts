import { type CommandInfo, isCommand, parseCommand, unreadText } from '@parley/channels';
import { type Authored, type ChatType, InboundMessage, InboundReaction } from '@parley/core';
import { proto } from '@whiskeysockets/baileys';
import {
  isPassedOn,
  type Look,
  lookAtQuoted,
  readMessage,
  type Shown,
  unreadableMessage,
  unwrap,
} from './look.ts';
import { mentionsPerson, shortName, withNames } from './mentions.ts';
import { isGroup, isPerson, type PersonIds, personJid, publicId } from './people.ts';
import {
  filesOrQuoted,
  isId,
  type Quoted,
  type QuoteFacts,
  quotationOf,
  quotedIn,
  readReply,
} from './quoted.ts';

/** A decrypted message with its envelope. */
export interface RawMessage {
  /** The person or group that the message came from; anything else is ignored. */
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
  /** A name with an article for content that cannot be read. */
  readonly unread?: string | undefined;
  /** Set for events that are not WhatsApp messages and cannot be marked as read, such as a call. */
  readonly isNotice?: true;
}

/** Facts that are needed in addition to the message. */
interface MessageFacts extends Omit<QuoteFacts, 'chat'> {
  readonly account: string;
  /** The sender's JID as the core uses it; see `Contacts`. */
  readonly sender: string;
  /** The title of the group, if known. */
  readonly title?: string | undefined;
  /** Commands in addition to the core's own; a command addresses the bot. */
  readonly commands?: readonly CommandInfo[] | undefined;
}

/**
 * A message for the core, or the reason why there is none; without a reason nothing is recorded.
 */
export type Inbound =
  | { readonly kind: 'message'; readonly message: InboundMessage }
  | { readonly kind: 'nothing'; readonly reason?: string };

/**
 * Whether this is another person's message in a chat, and not from a channel, a status, a broadcast
 * list or this account.
 */
export function isForUs({ chat, from }: RawMessage, me: PersonIds): boolean {
  if (from.pn === undefined && from.lid === undefined) return false;
  if (isPerson(from.pn, me) || isPerson(from.lid, me)) return false;
  return isGroup(chat) || personJid(chat) !== undefined;
}

/**
 * The chat id as the core uses it; a person is one chat, whichever of their ids the message has.
 */
export function chatIdOf(chat: string, sender: string): string {
  return isGroup(chat) ? chat : sender;
}

/**
 * The JIDs, without devices, of people whom a message mentions, replies to, or mentions in its
 * quotation.
 */
export function peopleIn(message: RawMessage): string[] {
  const look = lookIn(message);
  const context = look.kind === 'shown' ? look.shown.context : undefined;
  const quoted = context?.quotedMessage && lookAtQuoted(context.quotedMessage, NOWHERE);
  const named = [
    ...(context?.mentionedJid ?? []),
    ...(quoted?.context?.mentionedJid ?? []),
    context?.participant,
    look.kind === 'shown' ? look.shown.target?.participant : undefined,
  ];
  const jids = named.map(personJid).filter((jid) => jid !== undefined);
  return [...new Set(jids)].slice(0, MAX_NAMED);
}

/**
 * The maximum number of people whose number is looked up for one message. The largest groups have
 * four times this number of members.
 */
const MAX_NAMED = 256;

const NOWHERE = { chat: '', id: '' };

/** Converts a WhatsApp message into an inbound message (F01). */
export function toInbound(message: RawMessage, known: MessageFacts): Inbound {
  const look = lookIn(message);
  if (look.kind === 'nothing') return look;
  const { shown } = look;
  const facts = { ...known, chat: message.chat };
  const quoted = quotedIn(shown.context, facts);
  const type = isGroup(message.chat) ? 'group' : 'direct';
  const files = filesOrQuoted(shown, quoted).slice(0, MAX_FILES);
  const words = wordsWithOrigin(shown, known);
  const checked = InboundMessage.safeParse({
    ...placeAndSender(message, known),
    messageId: message.id,
    text: withUnreadNames(words, shown, type),
    authored: findAuthored(shown, quoted, message, known),
    ...(files.length === 0 ? {} : { attachments: files }),
    ...(isId(shown.albumId) && { albumId: shown.albumId }),
    ...commentOf(shown, known),
    ...readReply(shown.context, quoted, known),
    ...quotationOf(shown, quoted, facts),
    mentions: mentionsOf(shown, known),
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

function lookIn(message: RawMessage): Look {
  const { unread, content } = message;
  return unread === undefined
    ? readMessage(content, mediaLocation(message))
    : unreadableMessage(unread);
}

/** The text of a message with names in place of mentions, and its origin if forwarded. */
function wordsWithOrigin(shown: Shown, { nameOf }: Pick<MessageFacts, 'nameOf'>): string {
  const words = withNames(shown.words, shown.context, nameOf);
  const origin = originText(shown.context);
  const isMarked = origin !== '' && (words !== '' || origin !== '[Forwarded]');
  return isMarked ? [origin, words].filter((part) => part !== '').join('\n') : words;
}

/**
 * Marks forwarded text, because it was written by another person and is neither a command nor a
 * request from the sender.
 */
function originText(context: proto.IContextInfo | undefined): string {
  const channel = context?.forwardedNewsletterMessageInfo;
  const assistant = context?.forwardedAiBotMessageInfo;
  const name = shortName(channel?.newsletterName ?? assistant?.botName ?? '');
  const kind = channel ? 'the channel' : 'the assistant';
  if (name !== '') return `[Forwarded from ${kind} "${name.replaceAll('"', "'")}"]`;
  return isPassedOn(context) ? '[Forwarded]' : '';
}

function withUnreadNames(words: string, { unread }: Shown, type: ChatType): string {
  const names = unread.map((what) => unreadText(what, type));
  return [words, ...names].filter((part) => part !== '').join('\n');
}

/** The message that a comment belongs to, because comments contain no quotation. */
function commentOf(
  { target }: Shown,
  { people }: Pick<MessageFacts, 'people'>,
): Pick<InboundMessage, 'replyTo'> {
  if (!isId(target?.id)) return {};
  const author = personJid(target.participant);
  const senderId = author && publicId(people.get(author) ?? author);
  return { replyTo: { messageId: target.id, ...(senderId !== undefined && { senderId }) } };
}

/** The limit in the channel contract, in characters. */
const MAX_EMOJI = 64;

/** Converts a reaction, of which a person has one per message; undefined for anything else. */
export function toReaction(
  message: RawMessage,
  known: Pick<MessageFacts, 'account' | 'title' | 'sender'>,
): InboundReaction | undefined {
  const reaction = unwrap(message.content).content.reactionMessage;
  if (!reaction) return undefined;
  const checked = InboundReaction.safeParse({
    ...placeAndSender(message, known),
    messageId: reaction.key?.id,
    emojis: reaction.text ? [reaction.text.slice(0, MAX_EMOJI).toWellFormed()] : [],
    // The server's time has a resolution of one second, so the sender's clock orders reactions
    // within a second.
    sentAt: message.time * 1000 + (Math.abs(Number(reaction.senderTimestampMs ?? 0)) % 1000),
  });
  return checked.success ? checked.data : undefined;
}

function placeAndSender(
  message: RawMessage,
  { account, title, sender }: Pick<MessageFacts, 'account' | 'title' | 'sender'>,
) {
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

/**
 * Applies an edited text to a message. Everything that the edit does not contain is kept,
 * especially files.
 */
export function withEdit(
  old: InboundMessage,
  content: proto.IMessage,
  known: Pick<MessageFacts, 'me' | 'people' | 'commands' | 'nameOf'>,
): InboundMessage | undefined {
  const look = readMessage(content, { chat: old.chat.id, id: old.messageId });
  const shown = look.kind === 'shown' ? look.shown : undefined;
  const words = shown === undefined ? '' : wordsWithOrigin(shown, known);
  // An edit contains a caption without its file. The file comes from the original message, if it
  // could be read.
  const isNamed = shown !== undefined && old.attachments === undefined;
  const text = isNamed ? withUnreadNames(words, shown, old.chat.type) : words;
  if (text === '' && old.attachments === undefined) return undefined;
  const addressed = old.addressed || (shown !== undefined && isAddressed(shown, known));
  const mentioned = shown ? mentionsOf(shown, known) : old.mentions;
  const authored = authoredAfterEdit(old, shown);
  return { ...old, text, authored, addressed, mentions: mentioned };
}

/**
 * An edit does not turn text written by others into the sender's own: a forwarded text stays
 * forwarded.
 */
function authoredAfterEdit(
  { authored: { text: wasTyped, ...rest } = {}, text: oldText }: InboundMessage,
  shown: Shown | undefined,
): Authored {
  const mayBeTyped = wasTyped === true || oldText === '';
  return { ...rest, ...(mayBeTyped && shown?.isTyped === true && { text: true }) };
}

/**
 * The text that the sender typed or spoke. A quotation counts if it is the sender's own text, or in
 * a direct chat the account's; the recording of a quoted message never counts as spoken.
 */
function findAuthored(
  { isTyped, unread, context, files }: Shown,
  quoted: Quoted | undefined,
  { chat, from }: Pick<RawMessage, 'chat' | 'from'>,
  { me }: Pick<MessageFacts, 'me'>,
): Authored {
  const isTheirs =
    isPerson(context?.participant, from) || (!isGroup(chat) && isPerson(context?.participant, me));
  const isVoice = files.some(({ kind }) => kind === 'voice') && !isPassedOn(context);
  const isHere = quoted?.elsewhere === undefined && isId(context?.stanzaId);
  const isQuoteTyped = quoted?.shown?.isTyped === true && quoted.shown.unread.length === 0;
  return {
    ...(isTyped && unread.length === 0 && { text: true }),
    ...(isVoice && { voice: true }),
    ...(isHere && isQuoteTyped && isTheirs && { quote: true }),
  };
}

function mediaLocation({ chat, id, from }: RawMessage) {
  const sender = from.lid ?? from.pn;
  return isGroup(chat) && sender !== undefined ? { chat, id, writer: sender } : { chat, id };
}

/** The sender's other id, as a username. */
function otherName({ from }: RawMessage, sender: string): { readonly username?: string } {
  const other = sender === from.lid ? from.pn : from.lid;
  return other === undefined ? {} : { username: publicId(other) };
}

function isAddressed(
  { words, context, target }: Shown,
  { me, commands = [] }: Pick<MessageFacts, 'me' | 'commands'>,
): boolean {
  const isCalled = parseCommand(words) !== null || isCommand(words, commands);
  const isOurs = isCalled && !isPassedOn(context);
  const answers = [context?.participant, target?.participant];
  return mentionsPerson(words, context, me) || isOurs || answers.some((jid) => isPerson(jid, me));
}

function mentionsOf({ context }: Shown, { people }: Pick<MessageFacts, 'people'>): string[] {
  const jids = (context?.mentionedJid ?? []).map(personJid).filter((jid) => jid !== undefined);
  return [...new Set(jids.map((jid) => publicId(people.get(jid) ?? jid)))];
}

/** A change to an earlier message of the same chat, or to the chat itself. */
export type Change =
  | { readonly kind: 'edited'; readonly id: string; readonly content: proto.IMessage }
  | { readonly kind: 'deleted'; readonly id: string }
  /** The time in seconds after which messages in the chat disappear; 0 when they do not. */
  | { readonly kind: 'expiration'; readonly seconds: number };

/** An edit, a deletion or a new timer; undefined for everything else. */
export function changeIn(wrapped: proto.IMessage): Change | undefined {
  const protocol = unwrap(wrapped).content.protocolMessage;
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
