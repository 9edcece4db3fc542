import type { Authored, InboundMessage } from '@parley/core';
import { writeRef } from './files.ts';
import type { Place } from './places.ts';
import type { DiscordSettings } from './settings.ts';
import type {
  WireAttachment,
  WireContent,
  WireMember,
  WireMention,
  WireMessage,
  WirePoll,
  WireUser,
} from './wire.ts';

/** Message types that people and bots write: a message, a reply, and the answers to commands. */
const WRITTEN: ReadonlySet<number> = new Set([0, 19, 20, 23]);
/** `message_reference.type` of a forwarded message; all others answer what they refer to. */
const FORWARD = 1;

/**
 * Normalises a Discord message (F01). Undefined for the bot's own messages and for those that Discord
 * writes itself ("started a thread", joins, pins) (F07).
 */
export function toInbound(
  message: WireMessage,
  place: Place,
  { account, me, threads }: Receiving,
): InboundMessage | undefined {
  if (message.author.id === me || !WRITTEN.has(message.type)) return undefined;
  const attachments = attachmentsOf(message);
  const { text, leading } = textOf(message, place, me);
  const mentions = message.mentions.map(({ id }) => id);
  const named = mentions.includes(me) || leading;
  const replied = message.referenced_message?.author.id === me;
  const sender = senderOf(message);
  const isDirect = place.chat.type === 'direct';
  const addressed = isDirect || named || replied || namesRole(message, place);
  const perThread = threads === 'per-conversation' && !isDirect;
  // In a thread that the bot has started one need not mention it, but may address others.
  const goesOn = perThread && place.threadOwner === me && mentions.length === 0;
  const opens = perThread && addressed && !sender.isBot && place.takesThreads === true;
  return {
    channel: 'discord',
    account,
    messageId: message.id,
    chat: opens ? threadOf(message, place, me) : place.chat,
    sender,
    text,
    authored: authoredIn(message, { me, isDirect }),
    ...(attachments.length === 0 ? {} : { attachments }),
    ...replyOf(message, place),
    mentions,
    addressed: addressed || goesOn,
    sentAt: Date.parse(message.timestamp),
    variables: {},
  };
}

/** The name people see: of this server, else their own, else the account's. */
function displayName(user: WireUser, nick: string | null | undefined): string {
  return nick ?? user.global_name ?? user.username;
}

function senderOf({ author, member, webhook_id }: WireMessage): InboundMessage['sender'] {
  const isBot = author.bot === true || author.system === true || webhook_id != null;
  return personOf(author, member, isBot);
}

/** The thread that the answer will start from this message; it has the id of the message. */
function threadOf(message: WireMessage, { chat }: Place, me: string): InboundMessage['chat'] {
  const title = [chat.title, `#${threadName(message, me)}`].filter(Boolean).join(' › ');
  return { ...chat, type: 'thread', threadId: message.id, title };
}

/** Longest name of a thread that the bot starts; Discord allows 100 characters. */
const LONGEST_NAME = 60;

/** A thread is called by the first words of its message. */
export function threadName(
  { content, mentions, author }: WireMessage,
  me: string | undefined,
): string {
  const others = content.replaceAll(`<@${me}>`, '').replaceAll(`<@!${me}>`, '');
  const named = plainMentions(others, namesIn(mentions), () => undefined).replace(MARK, '');
  const text = named.replace(/\s+/g, ' ').trim();
  if (text === '') return displayName(author, undefined).slice(0, LONGEST_NAME);
  if (text.length <= LONGEST_NAME) return text;
  const cut = text.slice(0, LONGEST_NAME).toWellFormed();
  return `${cut.replace(/\s\S*$/, '')} …`;
}

/** A person; in a server with their name and their roles there. */
export function personOf(
  user: WireUser,
  member: WireMember | null | undefined,
  isBot: boolean,
): InboundMessage['sender'] {
  const { id, username } = user;
  const roles = member?.roles;
  return { id, name: displayName(user, member?.nick), username, isBot, ...(roles && { roles }) };
}

/** Discord's autocompletion offers a bot's role beside the bot itself, with the same name. */
function namesRole({ mention_roles }: WireMessage, { botRole }: Place): boolean {
  return botRole !== undefined && mention_roles.includes(botRole);
}

/** The text without a leading mention of the bot. */
function textOf(
  message: WireMessage,
  place: Place,
  me: string,
): { readonly text: string; readonly leading: boolean } {
  const written = writtenIn(message);
  const own = [
    `@!?${RegExp.escape(me)}`,
    ...(place.botRole === undefined ? [] : [`@&${RegExp.escape(place.botRole)}`]),
  ];
  const front = new RegExp(`^\\s*<(?:${own.join('|')})>[\\s,:]*`);
  const text = written.replace(front, '');
  const plain = plainMentions(text, namesIn(message.mentions), place.nameOf);
  return { text: plain, leading: text !== written };
}

/**
 * The written text, else the forwarded text or the poll. Forwarded text is marked: it is another person's,
 * neither a command nor a request of the sender.
 */
function writtenIn({ content, message_snapshots, poll }: WireMessage): string {
  if (content !== '') return content;
  if (poll != null) return pollText(poll);
  const forwarded = message_snapshots?.[0]?.message.content ?? '';
  return forwarded === '' ? '' : `[Forwarded]\n${forwarded}`;
}

function pollText({ question, answers }: WirePoll): string {
  const lines = answers.map(({ poll_media }) => `- ${poll_media.text}`);
  return [`Poll: ${question.text}`, ...lines].join('\n');
}

/**
 * What the sender typed or spoke: `content` is always theirs. A message without it shows what it forwards, or a poll,
 * whose text is no request of theirs; the files of a forwarded message may hold another person's voice.
 */
function authoredIn(
  message: WireMessage,
  { me, isDirect }: { readonly me: string; readonly isDirect: boolean },
): Authored {
  const { content, attachments, message_snapshots: forwarded, webhook_id, author } = message;
  if (webhook_id != null) return {};
  const answered = message.referenced_message?.author.id;
  const isTheirs = answered === author.id || (isDirect && answered === me);
  return {
    ...(content !== '' && { text: true }),
    ...(attachments.length > 0 && (forwarded ?? []).length === 0 && { voice: true }),
    ...(answered !== undefined && isTheirs && { quote: true }),
  };
}

function namesIn(mentions: readonly WireMention[]): ReadonlyMap<string, string> {
  return new Map(mentions.map((user) => [user.id, displayName(user, user.member?.nick)]));
}

function replyOf(message: WireMessage, place: Place): Pick<InboundMessage, 'replyTo'> {
  const { message_reference: reference, referenced_message: answered } = message;
  if (reference?.message_id === undefined || reference.type === FORWARD) return {};
  const messageId = reference.message_id;
  if (answered == null) return { replyTo: { messageId } };
  const text = plainMentions(answered.content, namesIn(answered.mentions), place.nameOf);
  return {
    replyTo: { messageId, senderId: answered.author.id, ...(text === '' ? {} : { text }) },
  };
}

type Attachment = NonNullable<InboundMessage['attachments']>[number];

/** The contract's limit; Discord itself allows ten files and three stickers. */
const MOST = 32;
/** File extensions of stickers by Discord's format number; 3 (Lottie) is not a picture. */
const STICKER_FORMATS: ReadonlyMap<number, string> = new Map([
  [1, 'png'],
  [2, 'png'],
  [4, 'gif'],
]);

/**
 * The files and stickers of a message, and of one that it forwards. Where it has none, those of the
 * message it replies to: "what is this?" below a picture means the picture.
 */
function attachmentsOf(message: WireMessage): Attachment[] {
  const forwarded = message.message_snapshots?.map((snapshot) => snapshot.message) ?? [];
  const own = [message, ...forwarded].flatMap((content) => filesOf(content, message, message.id));
  const answered = message.referenced_message;
  const id = answered?.id;
  if (own.length > 0 || answered == null || id === undefined) return own.slice(0, MOST);
  return filesOf(answered, message, id).slice(0, MOST);
}

/** `id` names the message that has fresh URLs. */
function filesOf(content: WireContent, { channel_id }: WireMessage, id: string): Attachment[] {
  const files = content.attachments.map((file) => fileOf(file, channel_id, id));
  return [...files, ...stickersOf(content)];
}

function fileOf(file: WireAttachment, channelId: string, messageId: string): Attachment {
  return {
    kind: kindOf(file),
    name: file.filename,
    ...(file.content_type == null ? {} : { mimeType: file.content_type }),
    size: file.size,
    ref: writeRef({ url: file.url, channelId, messageId, fileId: file.id }),
  };
}

function kindOf({ content_type, waveform }: WireAttachment): Attachment['kind'] {
  if (waveform != null) return 'voice';
  const [family] = (content_type ?? '').split('/');
  return family === 'image' || family === 'audio' || family === 'video' ? family : 'document';
}

function stickersOf({ sticker_items }: WireContent): Attachment[] {
  return sticker_items.flatMap(({ id, name, format_type }) => {
    const extension = STICKER_FORMATS.get(format_type);
    if (extension === undefined) return [];
    const url = `https://media.discordapp.net/stickers/${id}.${extension}`;
    return [{ kind: 'sticker', name, mimeType: `image/${extension}`, ref: writeRef({ url }) }];
  });
}

const MARK = /<(?:(@[!&]?|#)(\d{1,20})|a?:(\w+):\d{1,20}|\/([^:<>\n]+):\d{1,20})>/g;

/**
 * Replaces mentions by what people see: `<@7>` becomes `@Ann`, `<#8>` `#general`, `<:wave:9>` `:wave:`.
 * `users` are those the message mentions; `nameOf` knows roles and channels. Unknown ones stay.
 */
export function plainMentions(
  text: string,
  users: ReadonlyMap<string, string>,
  nameOf: (kind: 'role' | 'channel', id: string) => string | undefined,
): string {
  return text.replace(MARK, (mark, kind?: string, id = '', emoji?: string, command?: string) => {
    if (emoji !== undefined) return `:${emoji}:`;
    if (command !== undefined) return `/${command}`;
    const name =
      kind === '#' ? nameOf('channel', id) : kind === '@&' ? nameOf('role', id) : users.get(id);
    return name === undefined ? mark : `${kind === '#' ? '#' : '@'}${name}`;
  });
}

/** For whom messages are normalised. */
export interface Receiving {
  readonly account: string;
  /** The bot's own id. */
  readonly me: string;
  readonly threads: DiscordSettings['threads'];
}
