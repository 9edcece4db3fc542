import { getVisibleText } from './components.ts';
import { describeChannel, describeMember } from './descriptions.ts';
import { parseDiscordMarkdown } from './parse-markdown.ts';
import { hasBotPermission } from './permissions.ts';
import { type AllowedMentions, findPings, type Pings } from './pings.ts';
import type { MessageRoute, SentMessage, VisibleMessage } from './transcript.ts';
import type { Json, WireAttachment, WireMessage, WireReaction, WireUser } from './wire.ts';
import { CHANNEL_TYPE, type Channel, type World } from './world.ts';

/** A validated message with its author. */
export interface MessageDraft {
  readonly author: WireUser;
  readonly content: string;
  readonly embeds?: readonly Json[] | undefined;
  readonly components?: readonly Json[] | undefined;
  readonly attachments?: readonly WireAttachment[] | undefined;
  readonly flags?: number | undefined;
  readonly nonce?: string | number | undefined;
  readonly replyTo?: WireMessage | undefined;
  readonly allowedMentions?: AllowedMentions | undefined;
  readonly type?: number;
  readonly extra?: Partial<WireMessage>;
  /** A fixed id, required for the first message of a forum post. */
  readonly id?: string;
}

/** A stored message and the users it notified. */
export interface StoreMessageResult {
  readonly message: WireMessage;
  readonly pings: Pings;
}

/** Stores a message and dispatches its event; callers check permissions. */
export function storeMessage(
  world: World,
  channel: Channel,
  draft: MessageDraft,
): StoreMessageResult {
  const stored = composeMessage(world, channel, draft);
  channel.messages.set(stored.message.id, stored.message);
  if (channel.type === CHANNEL_TYPE.thread) channel.archived = false;
  emitMessage(world, channel, 'MESSAGE_CREATE', stored.message);
  return stored;
}

/** Creates a message outside any channel and computes which users it notifies. */
export function composeMessage(
  world: World,
  channel: Channel,
  draft: MessageDraft,
): StoreMessageResult {
  const { author, content, replyTo, nonce } = draft;
  const pings = computePings(world, channel, draft);
  const message: WireMessage = {
    id: draft.id ?? world.ids.next(),
    channel_id: channel.id,
    type: draft.type ?? (replyTo === undefined ? 0 : 19),
    author,
    content,
    timestamp: new Date(world.clock()).toISOString(),
    edited_timestamp: null,
    tts: false,
    pinned: false,
    flags: draft.flags ?? 0,
    ...buildMentionFields(world, pings, replyTo),
    attachments: draft.attachments ?? [],
    embeds: draft.embeds ?? [],
    components: draft.components ?? [],
    ...(nonce === undefined ? {} : { nonce }),
    ...(replyTo === undefined ? {} : buildReplyFields(channel, replyTo)),
    ...draft.extra,
  };
  return { message, pings };
}

/** Edits a message and dispatches the event; edits do not notify anyone. */
export function changeMessage(
  world: World,
  channel: Channel,
  message: WireMessage,
  change: Partial<WireMessage>,
): WireMessage {
  const changed = { ...message, ...change };
  channel.messages.set(message.id, changed);
  emitMessage(world, channel, 'MESSAGE_UPDATE', changed);
  return changed;
}

/** Deletes a message and dispatches the event. */
export function removeMessage(world: World, channel: Channel, messageId: string): void {
  channel.messages.delete(messageId);
  if (channel.people !== undefined) return;
  const where = channel.guildId === undefined ? {} : { guild_id: channel.guildId };
  const data = { id: messageId, channel_id: channel.id, ...where };
  world.emit('MESSAGE_DELETE', data, channel.guildId);
}

export function getMessageRoute(channel: Channel): MessageRoute {
  const inThread = channel.type === CHANNEL_TYPE.thread && channel.parentId !== undefined;
  return {
    ...(channel.guildId === undefined ? {} : { guildId: channel.guildId }),
    channelId: inThread ? (channel.parentId ?? channel.id) : channel.id,
    ...(inThread ? { threadId: channel.id } : {}),
    ...(channel.recipient === undefined ? {} : { userId: channel.recipient.id }),
  };
}

function emitMessage(world: World, channel: Channel, name: string, message: WireMessage): void {
  // The bot does not receive events from private channels that it is not part of.
  if (channel.people !== undefined) return;
  const guild = world.guildOf(channel);
  const isMember = message.webhook_id === undefined;
  const data = {
    ...message,
    channel_type: channel.type,
    ...(guild === undefined ? {} : { guild_id: guild.id }),
    ...(guild && isMember ? { member: describeMember(guild, message.author.id) } : {}),
    ...(guild && {
      mentions: message.mentions.map((user) => ({
        ...user,
        member: describeMember(guild, user.id),
      })),
    }),
  };
  world.emit(name, data, channel.guildId);
}

function computePings(world: World, channel: Channel, draft: MessageDraft): Pings {
  const byBot = draft.author.id === world.bot.id;
  const mayPingEveryone = !byBot || hasBotPermission(world, channel, 'pingEveryone');
  const text = getVisibleText({ content: draft.content, components: draft.components ?? [] });
  const pings = findPings(text, draft.allowedMentions, mayPingEveryone);
  return { ...pings, repliedUser: pings.repliedUser && draft.replyTo !== undefined };
}

function buildMentionFields(
  world: World,
  pings: Pings,
  replyTo: WireMessage | undefined,
): Pick<WireMessage, 'mention_everyone' | 'mentions' | 'mention_roles'> {
  const replied = pings.repliedUser && replyTo !== undefined ? [replyTo.author.id] : [];
  const ids = new Set([...pings.users, ...replied]);
  return {
    mention_everyone: pings.everyone,
    mentions: [...ids].map((id) => world.user(id)),
    mention_roles: pings.roles,
  };
}

function buildReplyFields(channel: Channel, replyTo: WireMessage): Partial<WireMessage> {
  // The quoted message is sent without its own quote, as on Discord's servers.
  const { referenced_message: _, ...quoted } = replyTo;
  return {
    message_reference: {
      type: 0,
      message_id: replyTo.id,
      channel_id: channel.id,
      ...(channel.guildId === undefined ? {} : { guild_id: channel.guildId }),
    },
    referenced_message: quoted,
  };
}

type Emoji = WireReaction['emoji'];

/** Returns an emoji in the form used in paths, `👍` or `name:id`, or undefined for other text. */
export function parseEmoji(text: string): Emoji | undefined {
  const [, name, id] = /^(\w+):(\d+)$/.exec(text) ?? [];
  if (name !== undefined && id !== undefined) return { id, name };
  return /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3/u.test(text)
    ? { id: null, name: text }
    : undefined;
}

/** Adds or removes a reaction; does nothing if the reaction is already present or absent. */
export function setReaction(
  world: World,
  channel: Channel,
  message: WireMessage,
  change: { readonly userId: string; readonly emoji: Emoji; readonly gone: boolean },
): void {
  const { userId, emoji, gone } = change;
  const who = getReactors(world, message.id, emoji);
  if (who.has(userId) !== gone) return;
  if (gone) who.delete(userId);
  else who.add(userId);
  const others = (message.reactions ?? []).filter(
    ({ emoji: other }) => toEmojiKey(other) !== toEmojiKey(emoji),
  );
  const own = { emoji, count: who.size, me: who.has(world.bot.id) };
  channel.messages.set(message.id, {
    ...message,
    reactions: who.size === 0 ? others : [...others, own],
  });
  const guild = world.guildOf(channel);
  const data = {
    user_id: userId,
    channel_id: channel.id,
    message_id: message.id,
    emoji,
    burst: false,
    type: 0,
    ...(guild === undefined ? {} : { guild_id: guild.id }),
    ...(guild === undefined || gone
      ? {}
      : { member: { ...describeMember(guild, userId), user: world.user(userId) } }),
    ...(gone ? {} : { message_author_id: message.author.id }),
  };
  world.emit(gone ? 'MESSAGE_REACTION_REMOVE' : 'MESSAGE_REACTION_ADD', data, channel.guildId);
}

export function getReactors(world: World, messageId: string, emoji: Emoji): Set<string> {
  const key = `${messageId} ${toEmojiKey(emoji)}`;
  const who = world.reactors.get(key) ?? new Set<string>();
  world.reactors.set(key, who);
  return who;
}

function toEmojiKey({ id, name }: Emoji): string {
  return id ?? name;
}

/** HAS_THREAD */
const HAS_THREAD = 1 << 5;

interface NewThread {
  readonly name: string;
  readonly ownerId: string;
  /** The message that the thread starts from; the thread has the same id. */
  readonly from?: WireMessage | undefined;
}

/** Opens a thread in a text channel, or a post in a forum, and dispatches the event. */
export function openThread(
  world: World,
  parent: Channel,
  { name, ownerId, from }: NewThread,
): Channel {
  const thread = world.addChannel(
    {
      type: CHANNEL_TYPE.thread,
      name,
      parentId: parent.id,
      ownerId,
      ...(parent.guildId === undefined ? {} : { guildId: parent.guildId }),
    },
    from?.id,
  );
  const data = describeChannel(world, thread);
  world.emit('THREAD_CREATE', { ...data, newly_created: true }, thread.guildId);
  const isForum = parent.type === CHANNEL_TYPE.forum;
  if (from === undefined && !isForum) announceThread(world, parent, thread, ownerId);
  if (from !== undefined)
    changeMessage(world, parent, from, { flags: from.flags | HAS_THREAD, thread: data });
  return thread;
}

/** Posts "… started a thread" to the parent channel, which bots receive as a message of type 18. */
function announceThread(world: World, parent: Channel, thread: Channel, ownerId: string): void {
  const guild = parent.guildId === undefined ? {} : { guild_id: parent.guildId };
  storeMessage(world, parent, {
    author: world.user(ownerId),
    content: thread.name,
    type: 18,
    allowedMentions: { parse: [] },
    extra: { message_reference: { type: 0, channel_id: thread.id, ...guild } },
  });
}

/** Records a message that the bot sent: the route, the users it notified, and the visible text. */
export function recordSentMessage(
  world: World,
  kind: SentMessage['kind'],
  route: MessageRoute,
  { message, pings }: StoreMessageResult,
): void {
  const replyTo = message.message_reference?.message_id;
  world.transcript.sent({
    kind,
    route,
    messageId: message.id,
    content: message.content,
    visible: parseDiscordMarkdown(getVisibleText(message)).visible,
    pings,
    attachments: message.attachments,
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(message.nonce === undefined ? {} : { nonce: message.nonce }),
    message,
  });
}

/** The visible messages of a channel, thread or direct chat, oldest first. */
export function listVisibleMessages(world: World, channelId: string): VisibleMessage[] {
  return [...world.channel(channelId).messages.values()].map((message) =>
    toVisibleMessage(world, message),
  );
}

export function toVisibleMessage(world: World, message: WireMessage): VisibleMessage {
  const replyTo = message.message_reference?.message_id;
  return {
    id: message.id,
    from: message.author.id === world.bot.id ? 'bot' : message.author.id,
    content: message.content,
    visible: parseDiscordMarkdown(getVisibleText(message)).visible,
    edited: message.edited_timestamp !== null,
    ...(replyTo === undefined ? {} : { replyTo }),
    attachments: message.attachments,
    reactions: message.reactions ?? [],
    message,
  };
}
