import type { CommandInfo } from '../menu.ts';
import { answer } from './answer.ts';
import { approve } from './approve.ts';
import { branch } from './branch.ts';
import type { ChatCommand } from './command.ts';
import { compact } from './compact.ts';
import { deny } from './deny.ts';
import { forget } from './forget.ts';
import { heartbeat } from './heartbeat.ts';
import { help } from './help.ts';
import { link } from './link.ts';
import { memory } from './memory.ts';
import { mode } from './mode.ts';
import { model } from './model.ts';
import { newSession } from './new.ts';
import { pair } from './pair.ts';
import { isListed } from './permission.ts';
import { resend } from './resend.ts';
import { rewind } from './rewind.ts';
import { run } from './run.ts';
import { soul } from './soul.ts';
import { status } from './status.ts';
import { stop } from './stop.ts';
import { whoami } from './whoami.ts';
import { why } from './why.ts';
import { zone } from './zone.ts';

/** All commands (F09), in the order of help and menus. */
export const CHAT_COMMANDS: readonly ChatCommand[] = [
  help,
  newSession,
  status,
  mode,
  run,
  model,
  stop,
  compact,
  rewind,
  branch,
  resend,
  approve,
  deny,
  answer,
  whoami,
  memory,
  forget,
  heartbeat,
  soul,
  zone,
  why,
  pair,
  link,
];

export function listMenu(commands: readonly ChatCommand[]): readonly CommandInfo[] {
  return commands.filter(isListed).map((command) => ({
    name: command.name,
    summary: command.summary,
    ...(command.private && { private: command.private }),
    ...(command.takes !== undefined && { takes: command.takes }),
  }));
}

/** The commands shown in the platforms' menus, on the page and through the API. */
export const COMMANDS: readonly CommandInfo[] = listMenu(CHAT_COMMANDS);

/**
 * Names that no skill command may have: built-in commands, and commands that platforms send
 * automatically.
 */
export const RESERVED_COMMANDS: readonly string[] = CHAT_COMMANDS.flatMap(
  ({ name, aliases = [] }) => [name, ...aliases],
);
