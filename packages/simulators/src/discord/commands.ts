import { z } from 'zod';
import { type Command, CommandForm } from './command-form.ts';
import { invalidForm, type RestCall, unknown } from './request.ts';
import type { Handler, Routes } from './scene.ts';
import type { Json } from './wire.ts';
import type { World } from './world.ts';

const LARGEST_SET = 100;
/** The maximum size of a command including all its options, in characters. */
const MAX_CHARACTERS = 8_000;

/** Routes that register slash commands, globally and per guild. */
export const COMMAND_ROUTES: Routes = Object.fromEntries(
  ['/applications/:app/commands', '/applications/:app/guilds/:guild/commands'].flatMap(
    (path): [string, Handler][] => [
      [`GET ${path}`, ({ world }, call) => [...commandsOf(world, guildOf(call)).values()]],
      [`POST ${path}`, ({ world }, call) => register(world, guildOf(call), call.read(CommandForm))],
      [`PUT ${path}`, ({ world }, call) => replaceAll(world, call)],
      [`GET ${path}/:command`, ({ world }, call) => known(world, call)],
      [`PATCH ${path}/:command`, ({ world }, call) => change(world, call)],
      [
        `DELETE ${path}/:command`,
        ({ world }, call) => {
          commandsOf(world, guildOf(call)).delete(known(world, call).name);
        },
      ],
    ],
  ),
);

/** The commands of a guild, or the global ones, keyed by name. */
export function commandsOf(world: World, guildId: string | undefined): Map<string, Command> {
  const commands = world.commands.get(guildId ?? '') ?? new Map<string, Command>();
  world.commands.set(guildId ?? '', commands);
  return commands;
}

function register(
  world: World,
  guildId: string | undefined,
  form: z.infer<typeof CommandForm>,
): Command {
  if (form.name !== form.name.toLowerCase())
    throw invalidForm('name', 'APPLICATION_COMMAND_INVALID_NAME', 'Command name is invalid');
  if (charactersOf(form) > MAX_CHARACTERS) {
    const words = `Command exceeds maximum size (${MAX_CHARACTERS})`;
    throw invalidForm('description', 'APPLICATION_COMMAND_TOO_LARGE', words);
  }
  const commands = commandsOf(world, guildId);
  if (guildId === undefined && !commands.has(form.name) && commands.size >= LARGEST_SET) {
    const words = 'Maximum number of application commands reached (100)';
    throw invalidForm('name', 'MAX_APPLICATION_COMMANDS', words);
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

interface Texts {
  readonly name: string;
  readonly description: string;
  readonly options?: readonly Texts[] | undefined;
}

/**
 * The total length of the names and descriptions of a command and its options; choices do not
 * count.
 */
function charactersOf({ name, description, options = [] }: Texts): number {
  return options.reduce((sum, one) => sum + charactersOf(one), name.length + description.length);
}

function replaceAll(world: World, call: RestCall): Command[] {
  const guildId = guildOf(call);
  const forms = call.read(z.array(CommandForm).max(LARGEST_SET));
  const commands = commandsOf(world, guildId);
  const kept = new Set(forms.map(({ name }) => name));
  if (kept.size < forms.length) {
    const words = 'Application command names must be unique';
    throw invalidForm('name', 'APPLICATION_COMMANDS_DUPLICATE_NAME', words);
  }
  for (const name of [...commands.keys()]) if (!kept.has(name)) commands.delete(name);
  return forms.map((form) => register(world, guildId, form));
}

function change(world: World, call: RestCall): Command {
  const old = known(world, call);
  const fields = call.read<Json>(z.record(z.string(), z.unknown()));
  const command: Command = { ...old, ...CommandForm.parse({ ...old, ...fields }) };
  const commands = commandsOf(world, guildOf(call));
  commands.delete(old.name);
  commands.set(command.name, command);
  return command;
}

function known(world: World, call: RestCall): Command {
  const id = call.param('command');
  for (const command of commandsOf(world, guildOf(call)).values())
    if (command.id === id) return command;
  throw unknown('Application command');
}

function guildOf(call: RestCall): string | undefined {
  return call.params.get('guild');
}
