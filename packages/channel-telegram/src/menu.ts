import { createHash } from 'node:crypto';
import {
  type CommandInfo,
  type CommandUses,
  describeOmittedCommands,
  type FittedMenu,
  fitMenu,
} from '@parley/channels';
import { type AdapterValues, type Logger, reasonOf } from '@parley/core';
import type { TelegramApi } from './api.ts';
import { toCallFailure } from './failures.ts';
import { TELEGRAM_MENU, toGroupMenuEntries, toMenuEntries } from './settings.ts';
import type { BotIdentity } from './wire.ts';

export interface MenuDeps {
  readonly api: Pick<TelegramApi, 'call'>;
  readonly values: AdapterValues;
  readonly commands: readonly CommandInfo[];
  readonly commandUses?: (() => Promise<CommandUses>) | undefined;
  readonly notifyOwner: (key: string, markdown: string) => Promise<void>;
  readonly log: Logger;
}

/**
 * The bot that the menu belongs to. A new token may belong to another bot, which has no menu yet.
 */
type MenuOwner = Pick<BotIdentity, 'id'>;

const SCOPES = { all_private_chats: toMenuEntries, all_group_chats: toGroupMenuEntries };
const MENU = { kind: 'menu', id: 'commands' } as const;

/** Fractions of the limit, tried in turn because Telegram does not publish the limit. */
const SHARES = [1, 0.75, 0.5];

/** Registers the commands in Telegram's menu (F09) unless they are already there. Never rejects. */
export async function registerMenu(
  deps: MenuDeps,
  bot: MenuOwner,
  signal: AbortSignal,
): Promise<void> {
  const { values, log } = deps;
  try {
    const fitting = await fitMenus(deps);
    const [first] = fitting;
    logMenu(log, first);
    const print = computeMenuFingerprint(bot, first);
    const known = (await values.get(MENU.kind, [MENU.id])).get(MENU.id);
    if (known === print || (known === undefined && first?.items.length === 0)) return;
    const accepted = await setLargestAcceptedMenu(deps, fitting, signal);
    await values.set([{ ...MENU, value: print }]);
    if (accepted !== first) logMenu(log, accepted);
    await reportOmittedCommands(deps, accepted);
  } catch (error) {
    log.warn(
      { reason: describeMenuFailure(error) },
      "Telegram's command menu is outdated; the next start tries again",
    );
  }
}

/**
 * The menu for each fraction of the limit, the largest first. Usage counts of the commands are read
 * only when not all of them fit.
 */
async function fitMenus({ commands, commandUses, log }: MenuDeps): Promise<readonly FittedMenu[]> {
  const all = fitMenu(commands, TELEGRAM_MENU);
  const isFull = all.leftOut.some(({ why }) => why === 'room') || all.shortenedTo !== null;
  const uses = isFull
    ? await commandUses?.().catch((error: unknown) => {
        log.warn({ reason: reasonOf(error) }, 'the usage counts of commands cannot be read');
        return undefined;
      })
    : undefined;
  return SHARES.map((share) => fitMenu(commands, scaleMenuLimits(share), uses));
}

function scaleMenuLimits(share: number): typeof TELEGRAM_MENU {
  const { size } = TELEGRAM_MENU;
  return { ...TELEGRAM_MENU, size: { ...size, max: Math.floor(size.max * share) } };
}

/**
 * A fingerprint of the requested commands rather than of the accepted ones, because another attempt
 * is useful only if the commands differ.
 */
function computeMenuFingerprint({ id }: MenuOwner, menu: FittedMenu | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify([id, toGroupMenuEntries(menu?.items ?? [])]))
    .digest('base64url');
}

/**
 * Registers the largest menu that Telegram accepts. Rejects with the failure of the last attempt.
 */
async function setLargestAcceptedMenu(
  { api, log }: MenuDeps,
  menus: readonly FittedMenu[],
  signal: AbortSignal,
): Promise<FittedMenu | undefined> {
  for (const [nth, menu] of menus.entries()) {
    try {
      for (const [type, entries] of Object.entries(SCOPES)) {
        const commands = entries(menu.items);
        await api.call('setMyCommands', { commands, scope: { type } }, signal);
      }
      return menu;
    } catch (error) {
      const reason = describeMenuFailure(error);
      if (nth === menus.length - 1 || !reason.includes('BOT_COMMANDS_TOO_MUCH')) throw error;
      log.info({ reason, commands: menu.items.length }, "Telegram's command menu was shortened");
    }
  }
  return undefined;
}

function describeMenuFailure(error: unknown): string {
  return error instanceof Error ? toCallFailure(error).reason : reasonOf(error);
}

function logMenu(log: Logger, menu: FittedMenu | undefined): void {
  if (menu === undefined) return;
  const { leftOut, shortenedTo } = menu;
  if (shortenedTo !== null) {
    log.info({ characters: shortenedTo }, "descriptions in Telegram's menu were shortened");
  }
  const text = describeOmittedCommands('Telegram', leftOut);
  if (text !== null) log.warn({ commands: leftOut.map(({ name }) => name) }, text);
}

/** Notifies the owner, once, about the commands that are missing from the menu. */
async function reportOmittedCommands(
  { notifyOwner }: MenuDeps,
  menu: FittedMenu | undefined,
): Promise<void> {
  const text = describeOmittedCommands('Telegram', menu?.leftOut ?? []);
  if (text === null) return;
  const key = createHash('sha256').update(text).digest('base64url').slice(0, 16);
  await notifyOwner(`menu ${key}`, `${text} "parley skills" lists them all.`);
}
