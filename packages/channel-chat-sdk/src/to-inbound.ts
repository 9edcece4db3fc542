import type { InboundMessage } from '@parley/core';
import type { Author, Message } from 'chat';
import { type AttachmentsResult, describeUnreadFiles } from './attachments.ts';
import { type ChatLocation, toChat } from './places.ts';

export interface BotNames {
  readonly userName: string;
  readonly userId: string | undefined;
  /** The workspace of the Slack bot. */
  readonly teamId?: string | undefined;
}

/** What is needed to read the text of a message. */
export interface ReadingContext {
  readonly platform: string;
  readonly bot: BotNames;
  readonly nameOf: (userId: string) => Promise<string | undefined>;
}

/** The content of a message, and how much of it the sender typed. */
export interface MessageTextFields
  extends Pick<InboundMessage, 'text' | 'authored' | 'quotation' | 'replyTo' | 'mentions'> {
  readonly isMention: boolean;
  /** The organization or workspace that contains the chat; access lists can name it. */
  readonly within?: string | undefined;
  readonly senderTeamId?: string | undefined;
}

interface MessageContext {
  readonly channel: string;
  readonly account: string;
  readonly place: ChatLocation;
  readonly words: MessageTextFields;
  readonly read: AttachmentsResult;
  readonly bot: BotNames;
  readonly title: string | undefined;
  /** Whether the channel is shared with another organization. */
  readonly isExternal: boolean;
  /** Whether the thread began with a message from the bot or with one that addressed it. */
  readonly isOurThread: boolean;
}

/** Converts an adapter's message into an inbound message (F01). */
export function toInbound(message: Message, facts: MessageContext): InboundMessage {
  const { channel, account, place, words, read, bot, title, isExternal, isOurThread } = facts;
  const { isMention, within, senderTeamId, text, authored, quotation, replyTo, mentions } = words;
  const isReply = replyTo?.senderId !== undefined && replyTo.senderId === bot.userId;
  const addressed = place.isDirect || isMention || isReply || isOurThread;
  const chat = {
    ...toChat(resolveThreadLocation(place, message, addressed), title),
    ...(within && { within }),
  };
  const isFromOurTeam = senderTeamId !== undefined && senderTeamId === bot.teamId;
  const isOutsider = isExternal && !isFromOurTeam;
  const missing = describeUnreadFiles(read.unread, chat.type);
  // In a shared channel, text from members of another organization counts as text from outsiders.
  const typed = isOutsider ? {} : missing === '' ? authored : { ...authored, text: undefined };
  return {
    channel,
    account,
    messageId: message.id,
    chat,
    sender: toSender(message.author),
    text: [text, missing].filter((part) => part !== '').join('\n'),
    ...(typed !== undefined && { authored: typed }),
    ...(read.attachments.length > 0 && { attachments: [...read.attachments] }),
    ...(quotation !== undefined && { quotation }),
    ...(replyTo !== undefined && { replyTo }),
    mentions: [...mentions],
    addressed,
    sentAt: getSentTime(message),
    variables: {},
  };
}

/**
 * The first message of a thread belongs to the thread only if it addresses the bot, which then
 * answers in that thread. Otherwise the message belongs to the channel, whose recent messages
 * become the context of the next thread.
 */
function resolveThreadLocation(
  place: ChatLocation,
  { id }: Message,
  addressed: boolean,
): ChatLocation {
  return place.root === id && !addressed ? { ...place, threadId: undefined } : place;
}

/** The author of a message or a button press. */
export function toSender(author: Author): InboundMessage['sender'] {
  const { userId, fullName, userName, isBot, isSystem } = author;
  return {
    id: userId,
    name: fullName === '' ? userName : fullName,
    ...(userName !== '' && { username: userName }),
    isBot: isBot === true || isSystem === true,
  };
}

/** The id of a button press, which stays the same when the platform redelivers the press. */
export function formatPressId(
  { triggerId, messageId, actionId, user, raw }: ButtonPressInfo,
  now: number,
): string {
  const { id, chat } = (raw ?? {}) as { id?: unknown; chat?: { eventTime?: unknown } };
  const event = [triggerId, id, chat?.eventTime].find((each) => typeof each === 'string');
  if (event !== undefined) return `press ${String(event)}`.slice(0, 256);
  return `press ${messageId} ${actionId} ${user.userId} ${now}`.slice(0, 256);
}

interface ButtonPressInfo {
  readonly triggerId?: string | undefined;
  readonly messageId: string;
  readonly actionId: string;
  readonly user: Author;
  readonly raw: unknown;
}

function getSentTime({ metadata: { dateSent } }: Message): number {
  const at = dateSent.getTime();
  return Number.isNaN(at) || at < 0 ? 0 : Math.trunc(at);
}
