import type { SenderFacts } from '@parley/channels';
import type { InboundMessage } from '@parley/core';
import { type Client, PermissionFlagsBits, PermissionsBitField } from 'discord.js';
import type { DiscordApi } from './api.ts';
import { writeRef } from './files.ts';
import type {
  WireAttachment,
  WireChannel,
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
  account: string,
  me: string,
): InboundMessage | undefined {
  if (message.author.id === me || !WRITTEN.has(message.type)) return undefined;
  const attachments = attachmentsOf(message);
  const { text, leading } = textOf(message, place, me);
  const mentions = message.mentions.map(({ id }) => id);
  const named = mentions.includes(me) || leading;
  const replied = message.referenced_message?.author.id === me;
  return {
    channel: 'discord',
    account,
    messageId: message.id,
    chat: place.chat,
    sender: senderOf(message),
    text,
    ...(attachments.length === 0 ? {} : { attachments }),
    ...replyOf(message, place),
    mentions,
    addressed: place.chat.type === 'direct' || named || replied || namesRole(message, place),
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
  const own = [`@!?${me}`, ...(place.botRole === undefined ? [] : [`@&${place.botRole}`])];
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

/** The chat a message belongs to, and the names of roles and channels there. */
export interface Place {
  readonly chat: InboundMessage['chat'];
  readonly guildId?: string | undefined;
  /** The role with the bot's own name, which people mention instead of the bot. */
  readonly botRole?: string | undefined;
  nameOf(kind: 'role' | 'channel', id: string): string | undefined;
}

/** Finds the chat of a channel. Rejects when Discord has to be asked and does not answer. */
export type FindPlace = (channelId: string) => Promise<Place>;

const isThread = (type: number): boolean => type >= 10 && type <= 12;

/**
 * A channel is a chat, and a thread or forum post is a thread of its channel: so access to a channel
 * covers its threads, and each thread is a conversation of its own. discord.js knows the channels of
 * servers; others (direct messages) are requested once.
 */
export function createPlaces(
  current: () => Client | undefined,
  api: Pick<DiscordApi, 'channel'>,
): FindPlace {
  const asked = new Map<string, WireChannel>();
  const channel = async (id: string): Promise<WireChannel> => {
    const known = knownChannel(current(), id) ?? asked.get(id);
    if (known !== undefined) return known;
    const answer = await api.channel(id);
    if (asked.size >= MOST_ASKED) asked.clear();
    asked.set(id, answer);
    return answer;
  };
  return async (channelId) => {
    const here = await channel(channelId);
    const parentId = isThread(here.type) ? here.parent_id : undefined;
    const above = parentId == null ? undefined : await channel(parentId);
    const client = current();
    const guild = here.guild_id == null ? undefined : client?.guilds.cache.get(here.guild_id);
    const me = client?.user;
    return {
      chat: chatOf(here, above, guild?.name),
      guildId: here.guild_id ?? undefined,
      botRole: me == null ? undefined : guild?.roles.botRoleFor(me)?.id,
      nameOf: (kind, id) =>
        kind === 'role'
          ? guild?.roles.cache.get(id)?.name
          : (knownChannel(client, id)?.name ?? undefined),
    };
  };
}

/** Direct chats, mostly; beyond this all are requested again. */
const MOST_ASKED = 5_000;

/** A channel of the gateway's cache; a thread without a known parent counts as unknown. */
function knownChannel(client: Client | undefined, id: string): WireChannel | undefined {
  const channel = client?.channels.cache.get(id);
  if (channel === undefined || channel.isDMBased() || channel.partial) return undefined;
  if (channel.isThread() && channel.parentId === null) return undefined;
  const { type, guildId, name, parentId } = channel;
  return { id, type, guild_id: guildId, name, parent_id: parentId };
}

/** Decides which chat a channel is. */
export function chatOf(
  here: WireChannel,
  above: WireChannel | undefined,
  guildName: string | undefined,
): InboundMessage['chat'] {
  if (here.type === 1) return { id: here.id, type: 'direct' };
  const names = [above?.name, here.name].filter((name) => name != null).map((name) => `#${name}`);
  const title = [guildName, names.join(' › ')].filter(Boolean).join(' ');
  const titled = title === '' ? {} : { title };
  if (!isThread(here.type) || here.parent_id == null)
    return { id: here.id, type: 'group', ...titled };
  return { id: here.parent_id, type: 'thread', threadId: here.id, ...titled };
}

/** The author of a message and the server, from the event. */
export interface GuildAuthor {
  readonly guildId: string | undefined;
  readonly userId: string;
  readonly member: WireMember | null | undefined;
}

/** Each of these permissions makes a member an administrator: managing the server, or others' messages. */
const ADMINISTRATORS = [
  PermissionFlagsBits.Administrator,
  PermissionFlagsBits.ManageGuild,
  PermissionFlagsBits.ManageMessages,
];

/**
 * Whether the author of a message manages the server, from the event and the roles that discord.js knows,
 * without a request. Messages fetched after downtime do not say, which means no; of those the roles are requested.
 */
export function createSenderFacts(
  current: () => Client | undefined,
  api: Pick<DiscordApi, 'rolesOf'>,
): (author: GuildAuthor) => SenderFacts {
  return ({ guildId, userId, member }) => ({
    ...(guildId !== undefined && { roles: (signal) => api.rolesOf(guildId, userId, signal) }),
    isAdministrator: async () => {
      const guild = guildId === undefined ? undefined : current()?.guilds.cache.get(guildId);
      if (guild?.ownerId === userId) return true;
      if (member?.permissions !== undefined) {
        return new PermissionsBitField(BigInt(member.permissions)).any(ADMINISTRATORS);
      }
      const roles = guild === undefined ? [] : [guild.id, ...(member?.roles ?? [])];
      return roles.some((id) => guild?.roles.cache.get(id)?.permissions.any(ADMINISTRATORS));
    },
  });
}
