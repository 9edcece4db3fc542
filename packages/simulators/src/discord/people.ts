import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type CommandOption, commandsOf } from './commands.ts';
import { describeChannel, describeMember } from './descriptions.ts';
import { type NewFile, storeFile } from './files.ts';
import type { Interaction, Interactions } from './interactions.ts';
import { asVoice, fieldsOf, type MessageParts } from './message-parts.ts';
import {
  changeMessage,
  openThread,
  react,
  readEmoji,
  removeMessage,
  storeMessage,
} from './messages.ts';
import { PERMISSION } from './permissions.ts';
import type { Json, WireMessage, WireUser } from './wire.ts';
import { CHANNEL_TYPE, type Channel, type Guild, type World } from './world.ts';

/** Something somebody other than the bot writes. */
export interface Saying {
  /** A channel, thread or direct message. */
  readonly channel: string;
  /** User id; a user nobody knows yet is made. In a direct message it is the person there. */
  readonly from?: string | undefined;
  /** Mentions are written as on the wire, `<@id>`. */
  readonly text?: string | undefined;
  readonly replyTo?: string | undefined;
  readonly files?: readonly NewFile[] | undefined;
  readonly embeds?: readonly Json[] | undefined;
  /** What the message has besides words and files: a poll, stickers, another message. */
  readonly parts?: MessageParts | undefined;
  /** The author is another bot. */
  readonly bot?: boolean | undefined;
  /** The author is a webhook with this name. */
  readonly webhook?: string | undefined;
}

/** Where a person puts or removes an emoji. */
export const Reacting = z.strictObject({
  channel: z.string(),
  message: z.string(),
  from: z.string(),
  emoji: z.string(),
  gone: z.boolean().optional(),
});
export type Reacting = z.infer<typeof Reacting>;

/** Somebody uses a slash command. */
export const Slash = z.strictObject({
  channel: z.string(),
  from: z.string().optional(),
  /** With the names of subcommands after it: `config show`. */
  name: z.string(),
  options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
});
export type Slash = z.infer<typeof Slash>;

/** Somebody presses a button, or chooses in a menu. */
export const Press = z.strictObject({
  channel: z.string(),
  from: z.string().optional(),
  message: z.string(),
  customId: z.string(),
  /** What is chosen, in a menu. */
  values: z.array(z.string()).readonly().optional(),
});
export type Press = z.infer<typeof Press>;

/** A person when a saying names none. */
const SOMEBODY = '200000000000000001';

/** Somebody writes. */
export function say(world: World, saying: Saying): WireMessage {
  const channel = world.channel(saying.channel);
  const author = authorOf(world, channel, saying);
  const replyTo = saying.replyTo === undefined ? undefined : world.message(channel, saying.replyTo);
  const { parts = {}, embeds = parts.embeds } = saying;
  const { voiceSeconds } = parts;
  const files = (saying.files ?? []).map((file) => storeFile(world, channel.id, file));
  const { message } = storeMessage(world, channel, {
    author,
    content: (saying.text ?? '').trim(),
    attachments:
      voiceSeconds === undefined ? files : files.map((file) => asVoice(file, voiceSeconds)),
    embeds,
    components: parts.components,
    replyTo,
    extra: {
      ...fieldsOf(world, parts),
      ...(saying.webhook === undefined ? {} : { webhook_id: author.id }),
    },
  });
  return message;
}

/** The author changes a text. */
export function reword(
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

/** Somebody deletes a message. */
export function erase(world: World, channelId: string, messageId: string): void {
  const channel = world.channel(channelId);
  removeMessage(world, channel, world.message(channel, messageId).id);
}

/** Somebody puts an emoji below a message, or takes it away. */
export function reactAs(world: World, { channel: id, message, from, emoji, gone }: Reacting): void {
  const channel = world.channel(id);
  const known = readEmoji(emoji);
  if (known === undefined) throw new Error(`Not an emoji: ${emoji}`);
  join(world, channel, from);
  react(world, channel, world.message(channel, message), {
    userId: from,
    emoji: known,
    gone: gone ?? false,
  });
}

/** Somebody begins to write. */
export function startTyping(world: World, channelId: string, from: string): void {
  const channel = world.channel(channelId);
  join(world, channel, from);
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

/** Somebody opens a thread, on a message or without one, or a post in a forum; the text comes first in it. */
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
  join(world, parent, from);
  const hangsOn = start.message === undefined ? undefined : world.message(parent, start.message);
  const thread = openThread(world, parent, { name, ownerId: from, from: hangsOn });
  if (text === undefined) return thread;
  // The first message of a forum post has the id of the post.
  const id = parent.type === CHANNEL_TYPE.forum ? { id: thread.id } : {};
  storeMessage(world, thread, { author: world.user(from), content: text, ...id });
  return thread;
}

/**
 * Gives back the id of the interaction.
 * @throws Error when there is no such command, or an option is missing, as the client would not send it
 */
export function slash(world: World, interactions: Interactions, use: Slash): string {
  const channel = world.channel(use.channel);
  const [name = '', ...subcommands] = use.name.split(' ');
  const command =
    (channel.guildId === undefined ? undefined : commandsOf(world, channel.guildId).get(name)) ??
    commandsOf(world, undefined).get(name);
  if (command === undefined) throw new Error(`No command /${name}`);
  const options = fill(command.options, subcommands, use.options ?? {});
  const { id } = command;
  const guild = command.guild_id === undefined ? {} : { guild_id: command.guild_id };
  const data = { id, name, type: 1, options, ...guild };
  return begin(world, interactions, { type: 2, ...use }, data);
}

/**
 * Gives back the id of the interaction.
 * @throws Error when there is no such button, or it is switched off
 */
export function press(world: World, interactions: Interactions, use: Press): string {
  const channel = world.channel(use.channel);
  const alone = interactions.ephemeralsWith(use.message);
  const message = channel.messages.get(use.message) ?? alone?.get(use.message);
  if (message === undefined) throw new Error(`No message ${use.message}`);
  const component = findComponent(message.components, use.customId);
  if (component === undefined) throw new Error(`No button ${use.customId}`);
  if (component.disabled === true) throw new Error(`${use.customId} is switched off`);
  const { values } = use;
  const data = {
    custom_id: use.customId,
    component_type: component.type,
    id: 1,
    ...(values === undefined ? {} : { values }),
  };
  return begin(
    world,
    interactions,
    { ...use, type: 3, name: use.customId, source: message, alone },
    data,
  );
}

/** Makes a person a member of the guild of a channel; in direct messages nothing is to do. */
function join(world: World, channel: Channel, userId: string): WireUser {
  const user = world.user(userId);
  const guild = world.guildOf(channel);
  if (guild === undefined || guild.members.has(userId)) return user;
  guild.members.set(userId, null);
  const member = { ...describeMember(guild, userId), user, guild_id: guild.id };
  world.emit('GUILD_MEMBER_ADD', member, guild.id);
  return user;
}

function authorOf(world: World, channel: Channel, saying: Saying): WireUser {
  if (saying.webhook !== undefined) {
    const id = world.ids.next();
    const author = { ...world.user(id), username: saying.webhook, bot: true };
    world.users.set(id, author);
    return author;
  }
  const id = saying.from ?? channel.recipient?.id ?? SOMEBODY;
  if (saying.bot === true) world.users.set(id, { ...world.user(id), bot: true });
  return join(world, channel, id);
}

interface Beginning {
  readonly type: 2 | 3;
  readonly name: string;
  readonly channel: string;
  readonly from?: string | undefined;
  readonly source?: WireMessage | undefined;
  /** The answers that only this person sees, when the button is on one of them. */
  readonly alone?: Map<string, WireMessage> | undefined;
}

function begin(world: World, interactions: Interactions, start: Beginning, data: Json): string {
  const channel = world.channel(start.channel);
  const user = join(world, channel, start.from ?? channel.recipient?.id ?? SOMEBODY);
  const interaction: Interaction = {
    id: world.ids.next(),
    token: randomBytes(32).toString('base64url'),
    at: world.clock(),
    type: start.type,
    name: start.name,
    user,
    channel,
    source: start.source,
    answered: false,
    ephemeral: start.alone ?? new Map(),
  };
  interactions.begin(interaction);
  const guild = world.guildOf(channel);
  const permissions = String(guild?.permissions ?? 0n);
  const who = guild
    ? {
        guild_id: guild.id,
        guild_locale: 'en-US',
        member: {
          ...describeMember(guild, user.id),
          user,
          permissions: permissionsOf(guild, user.id),
        },
      }
    : { user };
  const event = {
    id: interaction.id,
    application_id: world.bot.id,
    type: start.type,
    token: interaction.token,
    version: 1,
    data,
    channel: describeChannel(world, channel),
    channel_id: channel.id,
    ...who,
    ...(start.source === undefined ? {} : { message: start.source }),
    app_permissions: permissions,
    locale: 'en-US',
    entitlements: [],
    authorizing_integration_owners: { 0: guild?.id ?? '0' },
    context: guild === undefined ? 1 : 0,
    attachment_size_limit: 10_485_760,
  };
  world.emit('INTERACTION_CREATE', event, channel.guildId);
  return interaction.id;
}

const TYPES_WITH_OPTIONS: readonly number[] = [1, 2];

function fill(
  known: readonly CommandOption[],
  subcommands: readonly string[],
  values: NonNullable<Slash['options']>,
): Json[] {
  const [subcommand, ...deeper] = subcommands;
  if (subcommand !== undefined) {
    const option = known.find(({ name }) => name === subcommand);
    if (option === undefined) throw new Error(`No subcommand ${subcommand}`);
    const options = fill(option.options ?? [], deeper, values);
    return [{ type: option.type, name: option.name, options }];
  }
  for (const name of Object.keys(values)) {
    if (!known.some((option) => option.name === name)) throw new Error(`No option ${name}`);
  }
  return known.flatMap(({ type, name, required }) => {
    if (TYPES_WITH_OPTIONS.includes(type)) throw new Error(`A subcommand is missing`);
    const value = values[name];
    if (value === undefined && required === true) throw new Error(`Option ${name} is missing`);
    return value === undefined ? [] : [{ type, name, value }];
  });
}

function findComponent(
  components: readonly Json[],
  customId: string,
): { readonly type: unknown; readonly disabled: unknown } | undefined {
  for (const { type, disabled, custom_id, components: inner, accessory } of components) {
    if (custom_id === customId) return { type, disabled };
    const below = [...(Array.isArray(inner) ? inner : []), ...(accessory ? [accessory] : [])];
    const found = findComponent(below, customId);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What a member may do; an administrator's rights come with the role of moderators. */
function permissionsOf({ permissions, moderators }: Guild, userId: string): string {
  return String(moderators.has(userId) ? permissions | PERMISSION.manageMessages : permissions);
}
