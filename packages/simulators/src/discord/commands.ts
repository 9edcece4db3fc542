import { z } from 'zod';
import { type Command, CommandForm } from './command-form.ts';
import { createInvalidFormRefusal, createNotFoundRefusal, type RestCall } from './request.ts';
import type { RouteHandler, RouteHandlers } from './scene.ts';
import type { Json } from './wire.ts';
import type { World } from './world.ts';

const LARGEST_SET = 100;
/** The maximum size of a command including all its options, in characters. */
const MAX_CHARACTERS = 8_000;

/** Routes that register slash commands, globally and per guild. */
export const COMMAND_ROUTES: RouteHandlers = Object.fromEntries(
  ['/applications/:app/commands', '/applications/:app/guilds/:guild/commands'].flatMap(
    (path): [string, RouteHandler][] => [
      [`GET ${path}`, ({ world }, call) => [...getCommands(world, getGuildId(call)).values()]],
      [
        `POST ${path}`,
        ({ world }, call) => registerCommand(world, getGuildId(call), call.read(CommandForm)),
      ],
      [`PUT ${path}`, ({ world }, call) => replaceCommands(world, call)],
      [`GET ${path}/:command`, ({ world }, call) => findCommand(world, call)],
      [`PATCH ${path}/:command`, ({ world }, call) => updateCommand(world, call)],
      [
        `DELETE ${path}/:command`,
        ({ world }, call) => {
          getCommands(world, getGuildId(call)).delete(findCommand(world, call).name);
        },
      ],
    ],
  ),
);

/** The commands of a guild, or the global commands, keyed by name. */
export function getCommands(world: World, guildId: string | undefined): Map<string, Command> {
  const commands = world.commands.get(guildId ?? '') ?? new Map<string, Command>();
  world.commands.set(guildId ?? '', commands);
  return commands;
}

function registerCommand(
  world: World,
  guildId: string | undefined,
  form: z.infer<typeof CommandForm>,
): Command {
  if (form.name !== form.name.toLowerCase())
    throw createInvalidFormRefusal(
      'name',
      'APPLICATION_COMMAND_INVALID_NAME',
      'Command name is invalid',
    );
  if (countCharacters(form) > MAX_CHARACTERS) {
    const words = `Command exceeds maximum size (${MAX_CHARACTERS})`;
    throw createInvalidFormRefusal('description', 'APPLICATION_COMMAND_TOO_LARGE', words);
  }
  const commands = getCommands(world, guildId);
  if (guildId === undefined && !commands.has(form.name) && commands.size >= LARGEST_SET) {
    const words = 'Maximum number of application commands reached (100)';
    throw createInvalidFormRefusal('name', 'MAX_APPLICATION_COMMANDS', words);
  }
  const command: Command = {
    ...form,
    id: commands.get(form.name)?.id ?? world.ids.next(),
    application_id: world.bot.id,
    version: world.ids.next(),
    ...(guildId === undefined ? {} : { guild_id: guildId }),
  };
  commands.set(command.name, command);
  return command;
}

interface CommandText {
  readonly name: string;
  readonly description: string;
  readonly options?: readonly CommandText[] | undefined;
}

/**
 * The total length of the names and descriptions in a command and its options, excluding choices.
 */
function countCharacters({ name, description, options = [] }: CommandText): number {
  return options.reduce((sum, one) => sum + countCharacters(one), name.length + description.length);
}

function replaceCommands(world: World, call: RestCall): Command[] {
  const guildId = getGuildId(call);
  const forms = call.read(z.array(CommandForm).max(LARGEST_SET));
  const commands = getCommands(world, guildId);
  const kept = new Set(forms.map(({ name }) => name));
  if (kept.size < forms.length) {
    const words = 'Application command names must be unique';
    throw createInvalidFormRefusal('name', 'APPLICATION_COMMANDS_DUPLICATE_NAME', words);
  }
  for (const name of [...commands.keys()]) if (!kept.has(name)) commands.delete(name);
  return forms.map((form) => registerCommand(world, guildId, form));
}

function updateCommand(world: World, call: RestCall): Command {
  const old = findCommand(world, call);
  const fields = call.read<Json>(z.record(z.string(), z.unknown()));
  const command: Command = { ...old, ...CommandForm.parse({ ...old, ...fields }) };
  const commands = getCommands(world, getGuildId(call));
  commands.delete(old.name);
  commands.set(command.name, command);
  return command;
}

function findCommand(world: World, call: RestCall): Command {
  const id = call.param('command');
  for (const command of getCommands(world, getGuildId(call)).values())
    if (command.id === id) return command;
  throw createNotFoundRefusal('Application command');
}

function getGuildId(call: RestCall): string | undefined {
  return call.params.get('guild');
}
