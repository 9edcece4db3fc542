import { listStickersWithoutPicture } from './attachments.ts';
import { parseComponents } from './components.ts';
import { describeUnreadEmbed, renderEmbed, truncateText } from './embeds.ts';
import { createNameReplacer, type NameReplacer } from './mentions.ts';
import { findMessageKind, NEW_KIND } from './message-types.ts';
import type { ChatDetails } from './places.ts';
import { renderPoll } from './polls.ts';
import type { WireAnswered, WireContent, WireMention, WireMessage } from './wire-message.ts';

/** What a message contains besides its author's text, and the names of unreadable parts. */
export interface VisibleContent {
  readonly text: string;
  readonly unread: readonly string[];
}

/**
 * The maximum length, in characters, of everything that a message shows besides its text. The sum
 * of Discord's own limits is lower.
 */
const MAX_SHOWN = 12_000;
/**
 * The maximum number of names for unreadable content; one message has at most ten files and three
 * stickers.
 */
const MAX_UNREAD = 8;
/** The `message_reference.type` of a forwarded message. */
const FORWARD = 1;
/** Message flag: a copy from a followed channel. */
const IS_CROSSPOST = 1 << 1;

type VisibleMessage = WireMessage | WireAnswered;

/**
 * Reads the poll, embeds, components and forwarded messages in the order in which people see them.
 */
export function readVisibleContent(
  message: VisibleMessage,
  place: Pick<ChatDetails, 'nameOf' | 'guildId'>,
  around: readonly WireMention[] = [],
): VisibleContent {
  const naming = createNameReplacer(message, place, [...around, message.author]);
  const own = readWireContent(message, naming);
  const forwards = listForwardedContents(message, place);
  const text = [own.text, ...forwards.map((one) => one.text)].filter(Boolean).join('\n\n');
  const unread = [...own.unread, ...forwards.flatMap((one) => one.unread)];
  return { text: truncateText(text, MAX_SHOWN), unread: [...new Set(unread)].slice(0, MAX_UNREAD) };
}

/**
 * Everything that a message shows, including its text, for a reply to it; empty if there is
 * nothing.
 */
export function renderFullText(
  message: VisibleMessage,
  place: Pick<ChatDetails, 'nameOf' | 'guildId'>,
  around: readonly WireMention[] = [],
): string {
  const { text, unread } = readVisibleContent(message, place, around);
  const words = createNameReplacer(message, place, around)(message.content);
  const shown = [words, text, ...unread.map(inBrackets)].filter((part) => part.trim() !== '');
  const kind = findMessageKind(message.type);
  // People can also reply to messages that Discord itself writes, such as "Ben joined the server".
  if (kind?.kind === 'notice') shown.unshift(inBrackets(kind.what));
  if (kind === undefined && shown.length === 0 && !hasFiles(message)) return inBrackets(NEW_KIND);
  return truncateText(shown.join('\n'), MAX_SHOWN);
}

const inBrackets = (what: string): string => `[${what}]`;

/**
 * Whether a message is a reply to the message to which it refers. Other references are forwarded
 * messages, or copies from another channel.
 */
export function isReply({ message_reference: reference, flags, channel_id }: WireMessage): boolean {
  if (reference?.message_id === undefined || reference.type === FORWARD) return false;
  const isHere = reference.channel_id === undefined || reference.channel_id === channel_id;
  return isHere && (flags & IS_CROSSPOST) === 0;
}

function readWireContent(content: WireContent, naming: NameReplacer): VisibleContent {
  const { embeds, components, poll } = content;
  const context = { naming, content: content.content };
  const embedded = embeds.map((embed) => renderEmbed(embed, context));
  const unreadEmbeds = embeds.flatMap((embed) => describeUnreadEmbed(embed, context) ?? []);
  const built = parseComponents(components, naming);
  const asked = poll === undefined ? undefined : renderPoll(poll);
  const parts = [naming(asked ?? ''), ...embedded, ...built.lines];
  return {
    text: parts.filter((part) => part.trim() !== '').join('\n'),
    unread: [
      ...content.lost,
      ...(asked === '' ? ['a poll'] : []),
      ...unreadEmbeds,
      ...listUnreadContent(content),
      ...built.unread,
    ],
  };
}

/** Descriptions of `message.activity.type` for people. */
const INVITATIONS: ReadonlyMap<number, string> = new Map([
  [1, 'an invitation to join'],
  [2, 'an invitation to watch'],
  [3, 'an invitation to listen along'],
  [5, 'a request to join'],
  [6, 'a request to stream'],
]);

/** The names of content that is neither text nor a file. */
function listUnreadContent(content: WireContent): string[] {
  const { activity, application, shared_client_theme: theme } = content;
  const stickers = listStickersWithoutPicture(content).map(
    (name) => `a sticker "${shortenName(name)}"`,
  );
  const invitation = activity && (INVITATIONS.get(activity.type) ?? 'an invitation');
  const game = application?.name === undefined ? '' : ` ("${shortenName(application.name)}")`;
  return [
    ...stickers,
    ...(invitation === undefined ? [] : [`${invitation}${game}`]),
    ...(theme === undefined ? [] : ['colors for the Discord app']),
  ];
}

/** The maximum length, in characters, of a sticker or app name. */
const MAX_NAME = 60;

/** Shortens a name chosen by people to one line. */
function shortenName(name: string): string {
  const line = name.replace(/["\s]+/g, ' ').trim();
  return line.length <= MAX_NAME ? line : `${line.slice(0, MAX_NAME).toWellFormed()}…`;
}

/**
 * Forwarded messages, each of them marked: another person wrote the text, so it is neither a
 * command nor a request from the sender.
 */
function listForwardedContents(
  message: VisibleMessage,
  place: Pick<ChatDetails, 'nameOf' | 'guildId'>,
): VisibleContent[] {
  const { message_reference: origin, message_snapshots: snapshots } = message;
  const isForward = origin?.type === FORWARD;
  // The forwarded message was deleted or is withheld.
  if (snapshots.length === 0)
    return isForward && message.lost.length === 0
      ? [{ text: '', unread: ['a forwarded message'] }]
      : [];
  const where = formatOriginChannel(origin, place);
  return snapshots.map(({ message: forwarded }) => {
    const naming = createNameReplacer(forwarded, place);
    const { text, unread } = readWireContent(forwarded, naming);
    const words = [naming(forwarded.content), text].filter((part) => part.trim() !== '');
    if (words.length > 0) return { text: [`[Forwarded${where}]`, ...words].join('\n'), unread };
    const isEmpty = unread.length === 0 && !hasFiles(forwarded);
    return { text: '', unread: isEmpty ? ['a forwarded message'] : unread };
  });
}

function hasFiles({ attachments, sticker_items, stickers }: WireContent): boolean {
  return attachments.length + sticker_items.length + stickers.length > 0;
}

/**
 * The channel of the original message if it is in the same server. People in other servers must not
 * find out that the channel exists.
 */
function formatOriginChannel(
  origin: VisibleMessage['message_reference'],
  { nameOf, guildId }: Pick<ChatDetails, 'nameOf' | 'guildId'>,
): string {
  if (origin?.channel_id === undefined || guildId === undefined) return '';
  const name = origin.guild_id === guildId ? nameOf('channel', origin.channel_id) : undefined;
  return name === undefined ? '' : ` from #${name}`;
}
