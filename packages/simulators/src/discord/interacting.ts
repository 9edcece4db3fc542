import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Command, CommandOption } from './command-form.ts';
import { getCommands } from './commands.ts';
import { getOptions, getSelectionLimits, KIND, listComponents } from './components.ts';
import { describeInteractionChannel, describeMember } from './descriptions.ts';
import type { Interaction, InteractionStore } from './interactions.ts';
import { fillInForm } from './modals.ts';
import { joinGuild, SOMEBODY } from './people.ts';
import { getBotPermissions } from './permissions.ts';
import type { Json, WireMessage, WireUser } from './wire.ts';
import { type Channel, type Guild, PERMISSION, type World } from './world.ts';

export const SlashCommandUse = z.strictObject({
  channel: z.string(),
  from: z.string().optional(),
  /** The command name, followed by the names of subcommands: `config show`. */
  name: z.string(),
  options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
});
export type SlashCommandUse = z.infer<typeof SlashCommandUse>;

/** A person's press of a button, or their choice in a menu. */
export const ComponentPress = z.strictObject({
  channel: z.string(),
  from: z.string().optional(),
  message: z.string(),
  customId: z.string(),
  values: z.array(z.string()).readonly().optional(),
});
export type ComponentPress = z.infer<typeof ComponentPress>;

/** A person's answers to the form that their press opened. */
export const FormSubmission = z.strictObject({
  /** The id of the interaction that was answered with the form. */
  interaction: z.string(),
  /** The entered values, keyed by the custom ids of the inputs. */
  values: z.record(z.string(), z.string()),
});
export type FormSubmission = z.infer<typeof FormSubmission>;

/**
 * The context of the command: 0 in a guild, 1 in direct messages with the bot, 2 in another private
 * channel.
 */
function getContextType({ guildId, people }: Channel): 0 | 1 | 2 {
  if (guildId !== undefined) return 0;
  return people === undefined ? 1 : 2;
}

/**
 * Whether the app is absent from this channel, so that only people who installed it on their
 * account can use it here.
 */
function isUserInstallOnly(world: World, channel: Channel): boolean {
  return channel.people !== undefined || world.guildOf(channel)?.left === true;
}

/**
 * Uses a slash command and returns the id of the interaction.
 * @throws Error for a command that the real client would not send: an unknown name or a missing
 * option
 */
export function runSlashCommand(
  world: World,
  interactions: InteractionStore,
  use: SlashCommandUse,
): string {
  const channel = world.channel(use.channel);
  const [name = '', ...subcommands] = use.name.split(' ');
  const command =
    (channel.guildId === undefined ? undefined : getCommands(world, channel.guildId).get(name)) ??
    getCommands(world, undefined).get(name);
  if (command === undefined || !isOffered(world, command, channel))
    throw new Error(`No command /${name}`);
  const options = fillOptions(command.options, subcommands, use.options ?? {});
  const { id } = command;
  const guild = command.guild_id === undefined ? {} : { guild_id: command.guild_id };
  const data = { id, name, type: 1, options, ...guild };
  return startInteraction(world, interactions, { type: 2, ...use }, data);
}

function isOffered(
  world: World,
  { integration_types: types, contexts }: Command,
  channel: Channel,
): boolean {
  const isThere = contexts == null || contexts.includes(getContextType(channel));
  const installed = isUserInstallOnly(world, channel) ? 1 : 0;
  return isThere && (types === undefined || types.includes(installed));
}

/**
 * Presses a button or chooses in a menu, and returns the id of the interaction.
 * @throws Error when the button or menu does not exist, is disabled, or lacks the chosen options
 */
export function pressComponent(
  world: World,
  interactions: InteractionStore,
  use: ComponentPress,
): string {
  const channel = world.channel(use.channel);
  const alone = interactions.ephemeralsWith(use.message);
  const message = channel.messages.get(use.message) ?? alone?.get(use.message);
  if (message === undefined) throw new Error(`No message ${use.message}`);
  const component = listComponents(message.components).find(
    ({ custom_id }) => custom_id === use.customId,
  );
  if (component === undefined) throw new Error(`No button ${use.customId}`);
  if (component.disabled === true) throw new Error(`${use.customId} is disabled`);
  const values = resolveChosenValues(component, use);
  const data = {
    custom_id: use.customId,
    component_type: component.type,
    id: 1,
    ...(values === undefined ? {} : { values }),
  };
  return startInteraction(
    world,
    interactions,
    { ...use, type: 3, name: use.customId, source: message, alone },
    data,
  );
}

function resolveChosenValues(
  component: Json,
  { customId, values }: ComponentPress,
): readonly string[] | undefined {
  if (component.type !== KIND.select) return values;
  const known = getOptions(component).map(({ value }) => value);
  const { min, max } = getSelectionLimits(component);
  const chosen = values ?? [];
  if (chosen.length < min || chosen.length > max || new Set(chosen).size < chosen.length)
    throw new Error(`${customId} takes ${min} to ${max} options`);
  const other = chosen.find((value) => !known.includes(value));
  if (other !== undefined) throw new Error(`${customId} has no option ${other}`);
  return chosen;
}

/**
 * Submits a form and returns the id of the new interaction.
 * @throws Error when there is no form, or an input does not accept its value
 */
export function submitForm(
  world: World,
  interactions: InteractionStore,
  use: FormSubmission,
): string {
  const opened = interactions.get(use.interaction);
  if (opened?.modal === undefined)
    throw new Error(`The bot did not answer ${use.interaction} with a form`);
  const { modal, user, channel, source, ephemeral } = opened;
  const start = { type: 5, name: String(modal.custom_id), source, alone: ephemeral } as const;
  const data = fillInForm(modal, use.values);
  return startInteraction(
    world,
    interactions,
    { ...start, channel: channel.id, from: user.id },
    data,
  );
}

interface InteractionStart {
  readonly type: Interaction['type'];
  readonly name: string;
  readonly channel: string;
  readonly from?: string | undefined;
  readonly source?: WireMessage | undefined;
  /** The ephemeral answers shown to this person, when one of them contains the button. */
  readonly alone?: Map<string, WireMessage> | undefined;
}

function startInteraction(
  world: World,
  interactions: InteractionStore,
  start: InteractionStart,
  data: Json,
): string {
  const channel = world.channel(start.channel);
  const from = start.from ?? channel.recipient?.id ?? channel.people?.[0]?.id ?? SOMEBODY;
  const user = joinGuild(world, channel, from);
  const byUser = isUserInstallOnly(world, channel);
  const interaction: Interaction = {
    id: world.ids.next(),
    token: randomBytes(32).toString('base64url'),
    at: world.clock(),
    type: start.type,
    name: start.name,
    user,
    channel,
    source: start.source,
    byUser,
    answered: false,
    followUps: 0,
    ephemeral: start.alone ?? new Map(),
  };
  interactions.begin(interaction);
  const guild = world.guildOf(channel);
  const event = {
    id: interaction.id,
    application_id: world.bot.id,
    type: start.type,
    token: interaction.token,
    version: 1,
    data,
    channel: describeInteractionChannel(world, channel, user.id),
    channel_id: channel.id,
    ...describePerson(guild, user),
    ...(start.source === undefined ? {} : { message: start.source }),
    app_permissions: String(byUser ? 0n : getBotPermissions(world, channel)),
    locale: 'en-US',
    entitlements: [],
    authorizing_integration_owners: byUser ? { 1: user.id } : { 0: guild?.id ?? '0' },
    context: getContextType(channel),
    attachment_size_limit: 10_485_760,
  };
  // Events of a guild are dropped unless the bot is a member; an interaction with a user-installed
  // app is sent regardless.
  world.emit('INTERACTION_CREATE', event, byUser ? undefined : channel.guildId);
  return interaction.id;
}

/** The person who started an interaction; for an interaction in a guild, the member. */
function describePerson(guild: Guild | undefined, user: WireUser): Json {
  if (guild === undefined) return { user };
  const permissions = getMemberPermissions(guild, user.id);
  return {
    guild: { id: guild.id, locale: 'en-US', features: [] },
    guild_id: guild.id,
    guild_locale: 'en-US',
    member: { ...describeMember(guild, user.id), user, permissions },
  };
}

const TYPES_WITH_OPTIONS: readonly number[] = [1, 2];

function fillOptions(
  known: readonly CommandOption[],
  subcommands: readonly string[],
  values: NonNullable<SlashCommandUse['options']>,
): Json[] {
  const [subcommand, ...deeper] = subcommands;
  if (subcommand !== undefined) {
    const option = known.find(({ name }) => name === subcommand);
    if (option === undefined) throw new Error(`No subcommand ${subcommand}`);
    const options = fillOptions(option.options ?? [], deeper, values);
    return [{ type: option.type, name: option.name, options }];
  }
  for (const name of Object.keys(values)) {
    if (!known.some((option) => option.name === name)) throw new Error(`No option ${name}`);
  }
  return known.flatMap(({ type, name, required }) => {
    if (TYPES_WITH_OPTIONS.includes(type)) throw new Error(`The command requires a subcommand`);
    const value = values[name];
    if (value === undefined && required === true) throw new Error(`The option ${name} is required`);
    return value === undefined ? [] : [{ type, name, value }];
  });
}

/** The permissions of a member; moderators may also manage messages. */
function getMemberPermissions({ permissions, moderators }: Guild, userId: string): string {
  return String(moderators.has(userId) ? permissions | PERMISSION.manageMessages : permissions);
}
