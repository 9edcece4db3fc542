import { describeUnreadContent } from '@parley/channels';
import type { Authored, InboundMessage } from '@parley/core';
import { listDirectAttachments, listMessageAttachments } from './attachments.ts';
import {
  createNameReplacer,
  getDisplayName,
  listMentionedNames,
  removeMarkers,
  replaceMentions,
} from './mentions.ts';
import { findMessageKind, NEW_KIND } from './message-types.ts';
import type { ChatDetails } from './places.ts';
import { getSnowflakeTime } from './positions.ts';
import type { DiscordSettings } from './settings.ts';
import {
  isReply,
  readVisibleContent,
  renderFullText,
  type VisibleContent,
} from './shown-content.ts';
import type { WireMember, WireUser } from './wire.ts';
import type { WireMessage } from './wire-message.ts';

/**
 * Converts a Discord message into an inbound message (F01). Returns undefined for the bot's own
 * messages and for messages that Discord itself writes ("started a thread", joins, pins) (F07). A
 * message type newer than Parley is read as far as possible.
 */
export function toInbound(
  message: WireMessage,
  place: ChatDetails,
  { account, me, threads }: ReceivingAccount,
): InboundMessage | undefined {
  if (message.author.id === me || findNotice(message) !== undefined) return undefined;
  const attachments = listMessageAttachments(message);
  const { own, leading } = getAuthoredText(message, place, me);
  const said: SeparatedContent = {
    own,
    shown: readVisibleContent(message, place),
    hasFiles: attachments.length > 0,
  };
  const mentions = message.mentions.map(({ id }) => id);
  const named = mentions.includes(me) || leading;
  const replied = message.referenced_message?.author.id === me;
  const sender = getMessageSender(message);
  const isDirect = place.chat.type === 'direct';
  const addressed = isDirect || named || replied || mentionsBotRole(message, place);
  const perThread = threads === 'per-conversation' && !isDirect;
  // In a thread that the bot has started, people do not need to mention it, but they may address
  // others.
  const goesOn = perThread && place.threadOwner === me && mentions.length === 0;
  const opens = perThread && addressed && !sender.isBot && place.takesThreads === true;
  return {
    channel: 'discord',
    account,
    messageId: message.id,
    chat: opens ? toNewThread(message, place, me) : place.chat,
    sender,
    ...separateAuthoredText(message, place, said),
    authored: findAuthoredText(message, place, { own, me, isDirect }),
    ...(attachments.length === 0 ? {} : { attachments }),
    ...getReply(message, place),
    mentions,
    addressed: addressed || goesOn,
    sentAt: getSentTime(message),
    variables: {},
  };
}

/**
 * What a message written by Discord itself reports; undefined for messages from people and bots.
 */
export function findNotice({ type }: Pick<WireMessage, 'type'>): string | undefined {
  const kind = findMessageKind(type);
  return kind?.kind === 'notice' ? kind.what : undefined;
}

/** The time of the message, in ms since 1970; taken from its id if the timestamp is unreadable. */
export function getSentTime({ id, timestamp }: Pick<WireMessage, 'id' | 'timestamp'>): number {
  const at = Date.parse(timestamp);
  return Number.isNaN(at) || at < 0 ? getSnowflakeTime(id) : at;
}

function getMessageSender({ author, member, webhook_id }: WireMessage): InboundMessage['sender'] {
  const isBot = author.bot === true || author.system === true || webhook_id !== undefined;
  return toSender(author, member, isBot);
}

/** The thread that the answer will start from this message. Its id is the id of the message. */
function toNewThread(
  message: WireMessage,
  { chat }: ChatDetails,
  me: string,
): InboundMessage['chat'] {
  const title = [chat.title, `#${createThreadName(message, me)}`].filter(Boolean).join(' › ');
  return { ...chat, type: 'thread', threadId: message.id, title };
}

/** The maximum length of a name for a thread that the bot starts; Discord allows 100 characters. */
const MAX_NAME = 60;

/** The name of a thread: the first words of its message. */
export function createThreadName(
  { content, mentions, author }: WireMessage,
  me: string | undefined,
): string {
  const others = content.replaceAll(`<@${me}>`, '').replaceAll(`<@!${me}>`, '');
  const named = removeMarkers(
    replaceMentions(others, listMentionedNames(mentions), () => undefined),
  );
  const text = named.replace(/\s+/g, ' ').trim();
  if (text === '') return getDisplayName(author, undefined).slice(0, MAX_NAME);
  if (text.length <= MAX_NAME) return text;
  const cut = text.slice(0, MAX_NAME).toWellFormed();
  return `${cut.replace(/\s\S*$/, '')} …`;
}

/** The limit in the channel contract; a server has at most 250 roles. */
const MAX_ROLES = 500;

/**
 * Converts a user into a sender. In a server, the sender has their nickname and roles from there.
 */
export function toSender(
  user: WireUser,
  member: WireMember | null | undefined,
  isBot: boolean,
): InboundMessage['sender'] {
  const { id, username } = user;
  const roles = member?.roles?.slice(0, MAX_ROLES);
  return { id, name: getDisplayName(user, member?.nick), username, isBot, ...(roles && { roles }) };
}

/**
 * Whether the bot's own role is mentioned. Discord's autocompletion offers this role next to the
 * bot, under the same name as the bot.
 */
function mentionsBotRole({ mention_roles }: WireMessage, { botRole }: ChatDetails): boolean {
  return botRole !== undefined && mention_roles.includes(botRole);
}

/** The author's text without a leading mention of the bot. */
function getAuthoredText(
  message: WireMessage,
  place: ChatDetails,
  me: string,
): { readonly own: string; readonly leading: boolean } {
  const { content } = message;
  const names = [
    `@!?${RegExp.escape(me)}`,
    ...(place.botRole === undefined ? [] : [`@&${RegExp.escape(place.botRole)}`]),
  ];
  const front = new RegExp(`^\\s*<(?:${names.join('|')})>[\\s,:]*`);
  const text = content.replace(front, '');
  return { own: createNameReplacer(message, place)(text), leading: text !== content };
}

/** A message's content: its author's text, and everything else that it shows. */
interface SeparatedContent {
  readonly own: string;
  readonly shown: VisibleContent;
  readonly hasFiles: boolean;
}

/**
 * Text typed by the sender is kept separate, so that it can be a command or an approval. Everything
 * else that the message shows becomes the quotation. If the sender typed nothing, the rest becomes
 * the text.
 */
function separateAuthoredText(
  message: WireMessage,
  { chat: { type } }: ChatDetails,
  { own, shown, hasFiles }: SeparatedContent,
): Pick<InboundMessage, 'text' | 'quotation'> {
  const unread = (chatType: typeof type) =>
    shown.unread.map((what) => describeUnreadContent(what, chatType));
  if (own.trim() !== '') {
    const quoted = [shown.text, ...unread('group')].filter(Boolean).join('\n');
    return { text: own, ...(quoted !== '' && { quotation: { text: quoted } }) };
  }
  const text = [shown.text, ...unread(type)].filter(Boolean).join('\n');
  if (text !== '' || hasFiles) return { text };
  if (findMessageKind(message.type) === undefined)
    return { text: describeUnreadContent(NEW_KIND, type) };
  // An empty message. In a group, Discord may have withheld the text; in a direct chat, the person
  // has sent unreadable content.
  const isMention = message.content.trim() !== '';
  return { text: type === 'direct' && !isMention ? describeUnreadContent('something', type) : '' };
}

/** The context that decides which text counts as typed by the sender. */
interface AuthorContext {
  readonly me: string;
  readonly isDirect: boolean;
}

/**
 * The text that the sender typed or spoke. `content` is always typed by the sender, except in
 * messages of unknown types. The rest of a message is not the sender's request, and the files in a
 * forwarded message may contain another person's voice.
 */
function findAuthoredText(
  message: WireMessage,
  place: ChatDetails,
  { own, me, isDirect }: AuthorContext & Pick<SeparatedContent, 'own'>,
): Authored {
  const { attachments, message_snapshots: forwarded, webhook_id, type } = message;
  if (webhook_id !== undefined) return {};
  const isWritten = findMessageKind(type) !== undefined;
  return {
    ...(own.trim() !== '' && isWritten && { text: true }),
    ...(attachments.length > 0 && forwarded.length === 0 && { voice: true }),
    ...(isQuoteOfSender(message, place, { me, isDirect }) && { quote: true }),
  };
}

/** Whether all of the quoted text was written by the sender or, in a direct chat, by the bot. */
function isQuoteOfSender(
  { author, referenced_message: answered }: WireMessage,
  place: ChatDetails,
  { me, isDirect }: AuthorContext,
): boolean {
  if (answered === undefined) return false;
  const isMine = isDirect && answered.author.id === me;
  if (!isMine && answered.author.id !== author.id) return false;
  if (findMessageKind(answered.type)?.kind !== 'written') return false;
  // The bot's components count as its own text.
  const others = isMine ? { ...answered, components: [] } : answered;
  return readVisibleContent(others, place).text === '';
}

function getReply(message: WireMessage, place: ChatDetails): Pick<InboundMessage, 'replyTo'> {
  const { message_reference: reference, referenced_message: answered } = message;
  const messageId = isReply(message) ? reference?.message_id : undefined;
  if (messageId === undefined) return {};
  if (answered === undefined) return { replyTo: { messageId } };
  // The files of the original message are attached if the reply has no files itself; otherwise, the
  // text mentions them.
  const files = listDirectAttachments(message).length === 0 ? [] : listDirectAttachments(answered);
  const names = files.map(({ kind, name }) => `[${kind}${name === undefined ? '' : `: ${name}`}]`);
  const around = [{ ...message.author, member: message.member }, ...message.mentions];
  const text = [renderFullText(answered, place, around), ...names].filter(Boolean).join('\n');
  return {
    replyTo: { messageId, senderId: answered.author.id, ...(text === '' ? {} : { text }) },
  };
}

/** The account that receives the messages. */
export interface ReceivingAccount {
  readonly account: string;
  readonly me: string;
  readonly threads: DiscordSettings['threads'];
}
