import { createHash } from 'node:crypto';
import type { CommandInfo } from '@parley/channels';
import { type AdapterValues, type Logger, reasonOf } from '@parley/core';
import type { TelegramApi } from './api.ts';
import { callFailureOf } from './failures.ts';
import type { BotIdentity } from './wire.ts';

export interface MenuDeps {
  readonly api: Pick<TelegramApi, 'call'>;
  readonly values: AdapterValues;
  readonly commands: readonly CommandInfo[];
  readonly log: Logger;
}

/** The bot whose menu it is: a new token may belong to another one, which has none yet. */
type Owner = Pick<BotIdentity, 'id'>;

/** Most entries Telegram takes. */
const MAX_COMMANDS = 100;
/** Longest description of one, in characters. */
const MAX_DESCRIPTION = 256;
const SCOPES = ['all_private_chats', 'all_group_chats'];
const MENU = { kind: 'menu', id: 'commands' } as const;

/** An entry of Telegram's menu. */
export interface MenuEntry {
  readonly command: string;
  readonly description: string;
}

/**
 * The commands as Telegram takes them: lower case letters, digits and `_`. A name with a hyphen gets
 * `_` instead and is given its own name back when it comes in; others are left out and reported.
 */
function menuOf(commands: readonly CommandInfo[]): {
  readonly entries: readonly MenuEntry[];
  readonly leftOut: readonly string[];
} {
  const all = commands.map(({ name, summary }) => ({
    name,
    command: menuName(name),
    description: summary.trim().slice(0, MAX_DESCRIPTION) || name,
  }));
  const legal = all.filter(({ command }) => /^[a-z0-9_]{1,32}$/.test(command));
  const entries = legal.slice(0, MAX_COMMANDS);
  return {
    entries: entries.map(({ command, description }) => ({ command, description })),
    leftOut: all.filter((entry) => !entries.includes(entry)).map(({ name }) => name),
  };
}

/** What a command is called in Telegram's menu. */
export function menuName(name: string): string {
  return name.replaceAll('-', '_');
}

/** Puts the commands into Telegram's own menu (F09), if they are not there yet. Never rejects. */
export async function registerMenu(deps: MenuDeps, bot: Owner, signal: AbortSignal): Promise<void> {
  const { api, values, log } = deps;
  const { entries, leftOut } = menuOf(deps.commands);
  if (leftOut.length > 0) log.warn({ commands: leftOut }, "not in Telegram's menu: no legal name");
  const print = createHash('sha256')
    .update(JSON.stringify([bot.id, entries]))
    .digest('base64url');
  try {
    const known = (await values.get(MENU.kind, [MENU.id])).get(MENU.id);
    if (known === print || (known === undefined && entries.length === 0)) return;
    for (const type of SCOPES) {
      await api.call('setMyCommands', { commands: entries, scope: { type } }, signal);
    }
    await values.set([{ ...MENU, value: print }]);
  } catch (error) {
    const reason = error instanceof Error ? callFailureOf(error).reason : reasonOf(error);
    log.warn(
      { reason },
      "Telegram's menu of commands is not up to date; the next start tries again",
    );
  }
}
