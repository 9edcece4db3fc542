import { z } from 'zod';
import { describeMember } from './descriptions.ts';
import { type NewFile, storeFile } from './files.ts';
import { buildMessageFields, type MessageContentInput, toVoiceFile } from './message-parts.ts';
import {
  changeMessage,
  openThread,
  parseEmoji,
  removeMessage,
  setReaction,
  storeMessage,
} from './messages.ts';
import type { Json, WireMessage, WireUser } from './wire.ts';
import { CHANNEL_TYPE, type Channel, type World } from './world.ts';

/** A message from a person or another bot. */
export interface PersonMessage {
  /** The id of a channel, thread or direct chat. */
  readonly channel: string;
  /** A user id; unknown users are created. In a direct chat, the default is the other person. */
  readonly from?: string | undefined;
  /** The text, with mentions written as `<@id>`. */
  readonly text?: string | undefined;
  readonly replyTo?: string | undefined;
  readonly files?: readonly NewFile[] | undefined;
  readonly embeds?: readonly Json[] | undefined;
  /** Content besides text and files: a poll, stickers, a forwarded message. */
  readonly parts?: MessageContentInput | undefined;
  readonly bot?: boolean | undefined;
  readonly webhook?: string | undefined;
}

export const PersonReaction = z.strictObject({
  channel: z.string(),
  message: z.string(),
  from: z.string(),
  emoji: z.string(),
  gone: z.boolean().optional(),
});
export type PersonReaction = z.infer<typeof PersonReaction>;

/** The default author. */
export const SOMEBODY = '200000000000000001';

export function sendPersonMessage(world: World, saying: PersonMessage): WireMessage {
  const channel = world.channel(saying.channel);
  const author = getAuthor(world, channel, saying);
  const replyTo = saying.replyTo === undefined ? undefined : world.message(channel, saying.replyTo);
  const { parts = {}, embeds = parts.embeds } = saying;
  const { voiceSeconds } = parts;
  const files = (saying.files ?? []).map((file) => storeFile(world, channel.id, file));
  const { message } = storeMessage(world, channel, {
    author,
    content: (saying.text ?? '').trim(),
    attachments:
      voiceSeconds === undefined ? files : files.map((file) => toVoiceFile(file, voiceSeconds)),
    embeds,
    components: parts.components,
    replyTo,
    extra: {
      ...buildMessageFields(world, parts),
      ...(saying.webhook === undefined ? {} : { webhook_id: author.id }),
    },
  });
  return message;
}

export function editAsAuthor(
  world: World,
  channelId: string,
  messageId: string,
  text: string,
): WireMessage {
  const channel = world.channel(channelId);
  return changeMessage(world, channel, world.message(channel, messageId), {
    content: text,
    edited_timestamp: new Date(world.clock()).toISOString(),
  });
}

export function deleteAsAuthor(world: World, channelId: string, messageId: string): void {
  const channel = world.channel(channelId);
  removeMessage(world, channel, world.message(channel, messageId).id);
}

export function reactAsPerson(
  world: World,
  { channel: id, message, from, emoji, gone }: PersonReaction,
): void {
  const channel = world.channel(id);
  const known = parseEmoji(emoji);
  if (known === undefined) throw new Error(`Not an emoji: ${emoji}`);
  joinGuild(world, channel, from);
  setReaction(world, channel, world.message(channel, message), {
    userId: from,
    emoji: known,
    gone: gone ?? false,
  });
}

/** Shows a person as typing. */
export function startTyping(world: World, channelId: string, from: string): void {
  const channel = world.channel(channelId);
  joinGuild(world, channel, from);
  const guild = world.guildOf(channel);
  const where = guild && {
    guild_id: guild.id,
    member: { ...describeMember(guild, from), user: world.user(from) },
  };
  const timestamp = Math.floor(world.clock() / 1000);
  world.emit(
    'TYPING_START',
    { channel_id: channelId, user_id: from, timestamp, ...where },
    guild?.id,
  );
}

/**
 * Opens a thread, on a message or without one, or a post in a forum; `text` becomes its first
 * message.
 */
export function startThread(
  world: World,
  start: {
    readonly channel: string;
    readonly name: string;
    readonly from?: string | undefined;
    readonly message?: string | undefined;
    readonly text?: string | undefined;
  },
): Channel {
  const { from = SOMEBODY, name, text } = start;
  const parent = world.channel(start.channel);
  joinGuild(world, parent, from);
  const hangsOn = start.message === undefined ? undefined : world.message(parent, start.message);
  const thread = openThread(world, parent, { name, ownerId: from, from: hangsOn });
  if (text === undefined) return thread;
  // The first message of a forum post has the same id as the post.
  const id = parent.type === CHANNEL_TYPE.forum ? { id: thread.id } : {};
  storeMessage(world, thread, { author: world.user(from), content: text, ...id });
  return thread;
}

/** Makes a person a member of the channel's guild; does nothing in direct messages. */
export function joinGuild(world: World, channel: Channel, userId: string): WireUser {
  const user = world.user(userId);
  const guild = world.guildOf(channel);
  if (guild === undefined || guild.members.has(userId)) return user;
  guild.members.set(userId, null);
  const member = { ...describeMember(guild, userId), user, guild_id: guild.id };
  world.emit('GUILD_MEMBER_ADD', member, guild.id);
  return user;
}

function getAuthor(world: World, channel: Channel, saying: PersonMessage): WireUser {
  if (saying.webhook !== undefined) {
    const id = world.ids.next();
    const author = { ...world.user(id), username: saying.webhook, bot: true };
    world.users.set(id, author);
    return author;
  }
  const id = saying.from ?? channel.recipient?.id ?? SOMEBODY;
  if (saying.bot === true) world.users.set(id, { ...world.user(id), bot: true });
  return joinGuild(world, channel, id);
}
