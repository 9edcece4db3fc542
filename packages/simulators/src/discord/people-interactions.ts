import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type CommandOption, commandsOf } from './commands.ts';
import { describeChannel, describeMember } from './descriptions.ts';
import type { Interaction, Interactions } from './interactions.ts';
import { join, SOMEBODY } from './people.ts';
import { PERMISSION } from './permissions.ts';
import type { Json, WireMessage } from './wire.ts';
import type { Guild, World } from './world.ts';

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

const TYPES_WITH_OPTIONS: readonly number[] = [1, 2];

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
  const guild = channel.guildId === undefined ? undefined : world.guilds.get(channel.guildId);
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
