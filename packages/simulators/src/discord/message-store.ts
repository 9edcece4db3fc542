import { describeMember } from './descriptions.ts';
import { botMay } from './permissions.ts';
import type { AllowedMentions, Pings } from './pings.ts';
import { findPings } from './pings.ts';
import type { MessageRoute } from './transcript.ts';
import type { Json, WireAttachment, WireMessage, WireUser } from './wire.ts';
import { CHANNEL_TYPE, type Channel, type World } from './world.ts';

/** What an author writes, checked already. */
export interface Draft {
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
  /** The id it must have, for the first message of a forum post. */
  readonly id?: string;
}

/** A stored message and whom it notified. */
export interface Stored {
  readonly message: WireMessage;
  readonly pings: Pings;
}

/** Stores a message and tells the gateway; nobody checks permissions here. */
export function storeMessage(world: World, channel: Channel, draft: Draft): Stored {
  const stored = composeMessage(world, channel, draft);
  channel.messages.set(stored.message.id, stored.message);
  if (channel.type === CHANNEL_TYPE.thread) channel.archived = false;
  emitMessage(world, channel, 'MESSAGE_CREATE', stored.message);
  return stored;
}

/** A message that is in no channel, and whom it notifies. */
export function composeMessage(world: World, channel: Channel, draft: Draft): Stored {
  const { author, content, replyTo, nonce } = draft;
  const pings = pingsOf(world, channel, draft);
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
    ...mentionFields(world, pings, replyTo),
    attachments: draft.attachments ?? [],
    embeds: draft.embeds ?? [],
    components: draft.components ?? [],
    ...(nonce === undefined ? {} : { nonce }),
    ...(replyTo === undefined ? {} : replyFields(channel, replyTo)),
    ...draft.extra,
  };
  return { message, pings };
}

/** Puts other fields into a message and tells the gateway. Edits notify nobody. */
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

/** Takes a message away and tells the gateway. */
export function removeMessage(world: World, channel: Channel, messageId: string): void {
  channel.messages.delete(messageId);
  const where = channel.guildId === undefined ? {} : { guild_id: channel.guildId };
  const data = { id: messageId, channel_id: channel.id, ...where };
  world.emit('MESSAGE_DELETE', data, channel.guildId);
}

/** The full way to where a message stands. */
export function routeOf(channel: Channel): MessageRoute {
  const inThread = channel.type === CHANNEL_TYPE.thread && channel.parentId !== undefined;
  return {
    ...(channel.guildId === undefined ? {} : { guildId: channel.guildId }),
    channelId: inThread ? (channel.parentId ?? channel.id) : channel.id,
    ...(inThread ? { threadId: channel.id } : {}),
    ...(channel.recipient === undefined ? {} : { userId: channel.recipient.id }),
  };
}

function emitMessage(world: World, channel: Channel, name: string, message: WireMessage): void {
  const guild = channel.guildId === undefined ? undefined : world.guilds.get(channel.guildId);
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

function pingsOf(world: World, channel: Channel, draft: Draft): Pings {
  const byBot = draft.author.id === world.bot.id;
  const mayPingEveryone = !byBot || botMay(world, channel, 'pingEveryone');
  const pings = findPings(draft.content, draft.allowedMentions, mayPingEveryone);
  return { ...pings, repliedUser: pings.repliedUser && draft.replyTo !== undefined };
}

function mentionFields(
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

function replyFields(channel: Channel, replyTo: WireMessage): Partial<WireMessage> {
  // The answered message is quoted without what it answers itself, as the servers do.
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
