import { existsSync } from 'node:fs';
import { escapedHidden, systemTime } from '@parley/core';
import { nearestWord } from '@parley/settings';
import type { Store } from '@parley/store';
import { type Command, InvalidArgumentError } from 'commander';
import { commandLine, type DataFolder } from './data-folder.ts';
import { type LoadedSettings, readSettings } from './settings.ts';

export interface Cli {
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
  readonly print: (text: string) => void;
  /** The agent that `--agent` names (F14); undefined: the default one. */
  readonly agent?: string | undefined;
  /** `--json`: answers of operations are printed as they are. */
  readonly json?: boolean | undefined;
}

/** Runs a command, whose code is loaded only then. */
export type Run = (command: (cli: Cli) => Promise<number>) => Promise<void>;

export interface Runs {
  /** Runs a command whose output holds no secret of the settings (G18). */
  readonly run: Run;
  /** For commands that show a secret because that is what they are for. */
  readonly bare: Run;
  /** For commands that start a process; a running one does not decide about its settings file. */
  readonly starting: Run;
}

/** Runs functions of a command's module, which is loaded then. */
export function using<Module>(run: Run, load: () => Promise<Module>) {
  return (work: (module: Module, cli: Cli) => Promise<number>) =>
    run(async (cli) => work(await load(), cli));
}

/** A command with its arguments (`show <number>`), what it is for and what it does. */
export function add<Given extends unknown[]>(
  parent: Command,
  usage: string,
  description: string,
  action?: (...given: Given) => Promise<void>,
): Command {
  const command = parent.command(usage).description(description);
  return action === undefined ? command : command.action(action);
}

/** The subcommand that a group of commands runs by itself. Another word is refused as an unknown command. */
export function addDefault(parent: Command, name: string): Command {
  const command = parent.command(name, { isDefault: true }).allowExcessArguments();
  return command.hook('preAction', () => {
    const [word] = command.args;
    if (word !== undefined) refuseWord(parent, word);
  });
}

/** Has every group of commands refuse an unknown one. Commander's own guesses are too far off. */
export function refuseUnknown(parent: Command): void {
  if (parent.commands.length === 0) return;
  parent.on('command:*', ([word = '']: readonly string[]) => refuseWord(parent, word));
  for (const command of parent.commands) refuseUnknown(command);
}

/** Suggests a command only if it is there and spelt much like that word. */
function refuseWord(parent: Command, word: string): never {
  const path = parent.parent === null ? '' : `${parent.name()} `;
  const names = parent.commands.map((known) => known.name());
  const meant = nearestWord(word, [...names, 'help']);
  const all = path === '' ? '' : `\n(It is one of ${names.join(', ')}.)`;
  const hint = meant === undefined ? all : `\n(Did you mean ${path}${meant}?)`;
  return parent.error(`error: unknown command '${path}${word}'${hint}`);
}

/** `17`, `#17` and `v3`: numbers of dead letters and versions. */
export function idNumber(text: string): number {
  const digits = /^(?:#|v)?(\d{1,15})(?:-seed)?$/.exec(text)?.[1];
  if (digits !== undefined) return Number(digits);
  throw new InvalidArgumentError('A number such as 17 is wanted.');
}

/** Reads a whole number within bounds. */
export function numberFrom(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (Number.isInteger(number) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a number from ${least} to ${most}.`);
  };
}

/** Reads a date that exists, `2026-11-21`. */
export function isoDate(text: string): string {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  // `2026-02-30` is read as a day of March.
  if (!Number.isNaN(at) && new Date(at).toISOString().startsWith(text)) return text;
  throw new InvalidArgumentError('It must be a date such as 2026-11-21.');
}

/** A group of commands that look at one agent: `--agent` may stand before or after the command (F14). */
export function ofOneAgent(group: Command): Command {
  return group.option('--agent <name>', 'of this agent; without it of the default one');
}

/** A command, or a group of them, with `--json`, which may stand before or after a command of the group. */
export function withJson(command: Command): Command {
  return command.option('--json', 'for programs');
}

/** A command of a group with `--json` that has no answer to print as JSON: it refuses the option. */
export function withoutJson(command: Command): Command {
  return command.hook('preAction', () => {
    if (command.optsWithGlobals<{ readonly json?: boolean }>().json)
      command.error("error: unknown option '--json'");
  });
}

type Installation = Pick<Cli, 'folder' | 'env'>;
type OnStore<T> = (store: Store, loaded: LoadedSettings) => Promise<T>;

/** Whether there is a database already: a look must not make one. */
export function hasDatabase({ storeUrl }: DataFolder, { settings }: LoadedSettings): boolean {
  return settings.store.url !== undefined || existsSync(storeUrl.replace(/^sqlite:/, ''));
}

/** Works on the database beside a running gateway, or without one. */
export async function withStore<T>({ folder, env }: Installation, work: OnStore<T>): Promise<T> {
  const loaded = readSettings(folder, env);
  // Most questions to a running gateway never load it.
  const { openStore } = await import('@parley/store');
  const { READ_SO_FAR, readMark, refuseLostDatabase } = await import('./database-mark.ts');
  const { settings } = loaded;
  refuseLostDatabase(folder, settings);
  const url = settings.store.url ?? folder.storeUrl;
  // What it finds is in the database then, where the gateways report it.
  const state = { seen: readMark(folder, settings), forget: READ_SO_FAR, onSetback: () => {} };
  const store = await openStore({ url, clock: systemTime.clock, state });
  try {
    return await work(store, loaded);
  } finally {
    await store.close();
  }
}

/** Ends a command that only a running gateway can do. */
export function notRunning({ folder, print }: Cli): number {
  print(`No Parley runs on ${folder.path}. Start it with "${commandLine('start', folder)}".`);
  return 3;
}

export function jsonText(value: object): string {
  return JSON.stringify(value, null, 2).split('\n').map(escapedHidden).join('\n');
}
