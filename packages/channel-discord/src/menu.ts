import {
  type ChannelContext,
  type CommandInfo,
  type CommandUses,
  describeOmittedCommands,
  fitMenu,
} from '@parley/channels';
import type { DiscordApi, MenuCommand } from './api.ts';
import { DISCORD_MENU, type DiscordSettings } from './settings.ts';

const TEXT_OPTION = 3;

/** Where commands are offered. */
type UserInstall = DiscordSettings['userInstall'];

/**
 * Who may use a command (0: people in servers with the bot, 1: people with the app on their
 * account), and where it can be used (0: servers, 1: direct messages with the bot, 2: other private
 * channels). Both are empty if the developer portal decides.
 */
const OFFERED: Readonly<Record<UserInstall, Pick<MenuCommand, 'integration_types' | 'contexts'>>> =
  {
    portal: {},
    never: { integration_types: [0], contexts: [0, 1] },
    always: { integration_types: [0, 1], contexts: [0, 1, 2] },
  };

/**
 * A command that sends a message to the agent in chats where the bot is absent and cannot be
 * mentioned.
 */
export const ASK: CommandInfo = {
  name: 'ask',
  summary: 'write to me, even where I am not a member',
  takes: 'what you want to say',
};

/** `ask` is included if people use the app from their account and no skill has that name. */
function listOfferedCommands(
  commands: readonly CommandInfo[],
  userInstall: UserInstall,
): readonly CommandInfo[] {
  const isTaken = commands.some(({ name }) => name === ASK.name);
  return userInstall === 'always' && !isTaken ? [ASK, ...commands] : commands;
}

/**
 * The commands in Discord's menu format, each with an optional text. Discord allows 8,000
 * characters per command; each of these uses at most 160.
 */
export function createMenu(
  commands: readonly CommandInfo[],
  uses?: CommandUses,
  userInstall: UserInstall = 'portal',
): MenuCommand[] {
  const takes = new Map(commands.map((command) => [command.name, command.takes]));
  return fitMenu(commands, DISCORD_MENU, uses).items.map(({ name, description }) => ({
    name,
    description,
    options: [{ type: TEXT_OPTION, name: 'text', description: takes.get(name) || ADDS }],
    ...OFFERED[userInstall],
  }));
}

const ADDS = 'Text to add (optional)';

interface RegisterMenuDeps
  extends Pick<ChannelContext<unknown>, 'commands' | 'notifyOwner' | 'log'> {
  readonly api: Pick<DiscordApi, 'menu' | 'setMenu'>;
  readonly commandUses?: (() => Promise<CommandUses>) | undefined;
  readonly userInstall?: UserInstall;
}

/**
 * Registers the commands unless Discord already has the same ones, because it allows only 200
 * changes a day. Commands that do not fit are logged, and the owner is notified about them once.
 */
export async function registerMenu(
  { api, commands: known, commandUses, userInstall = 'portal', notifyOwner, log }: RegisterMenuDeps,
  applicationId: string,
): Promise<'same' | 'changed'> {
  const commands = listOfferedCommands(known, userInstall);
  const isFull = fitMenu(commands, DISCORD_MENU).leftOut.some(({ why }) => why === 'room');
  const uses = isFull ? await commandUses?.() : undefined;
  const wanted = createMenu(commands, uses, userInstall);
  const current = await api.menu(applicationId);
  const isOffered = userInstall !== 'portal';
  if (serializeCommands(current, isOffered) === serializeCommands(wanted, isOffered)) return 'same';
  await api.setMenu(applicationId, wanted);
  const { leftOut } = fitMenu(commands, DISCORD_MENU, uses);
  const text = describeOmittedCommands('Discord', leftOut);
  if (text !== null) {
    const left = leftOut.map(({ name }) => name);
    log.warn({ commands: left }, text);
    await notifyOwner(
      `menu ${left.join(' ').slice(0, 200)}`,
      `${text} "parley skills" lists them all.`,
    );
  }
  return 'changed';
}

/**
 * The commands as JSON, for comparison; with `isOffered`, the JSON includes where they are offered.
 * Discord fills in these fields from the portal if they are absent.
 */
function serializeCommands(commands: readonly MenuCommand[], isOffered: boolean): string {
  const lines = commands.map(({ name, description, options, integration_types, contexts }) =>
    JSON.stringify([
      name,
      description,
      options.map((option) => [option.type, option.name, option.description]),
      ...(isOffered ? [integration_types?.toSorted(), contexts?.toSorted()] : []),
    ]),
  );
  return lines.sort().join('\n');
}
