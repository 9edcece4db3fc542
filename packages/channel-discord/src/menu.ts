import type { CommandInfo } from '@parley/channels';
import type { DiscordApi, MenuCommand } from './discord-api.ts';

/** Discord's limits: names, descriptions, commands of an application. */
const NAME = /^[-_\p{Ll}\p{Lo}\p{N}]{1,32}$/u;
const LONGEST_SUMMARY = 100;
const MOST_COMMANDS = 100;
const TEXT_OPTION = 3;

/** The commands as Discord's menu has them, each with room for words behind it. */
export function menuOf(commands: readonly CommandInfo[]): MenuCommand[] {
  const fitting = commands.filter(({ name }) => NAME.test(name));
  return fitting.slice(0, MOST_COMMANDS).map(({ name, summary }) => ({
    name,
    description: [...(summary.trim() === '' ? name : summary)].slice(0, LONGEST_SUMMARY).join(''),
    options: [{ type: TEXT_OPTION, name: 'text', description: 'What to add, if anything' }],
  }));
}

/** Registers the commands unless Discord has them already: it allows 200 changes a day. */
export async function registerMenu(
  api: Pick<DiscordApi, 'menu' | 'setMenu'>,
  applicationId: string,
  commands: readonly CommandInfo[],
): Promise<'same' | 'changed'> {
  const wanted = menuOf(commands);
  const there = await api.menu(applicationId);
  if (inOrder(there) === inOrder(wanted)) return 'same';
  await api.setMenu(applicationId, wanted);
  return 'changed';
}

function inOrder(commands: readonly MenuCommand[]): string {
  const lines = commands.map(({ name, description, options }) =>
    JSON.stringify([
      name,
      description,
      options.map((option) => [option.type, option.name, option.description]),
    ]),
  );
  return lines.sort().join('\n');
}
