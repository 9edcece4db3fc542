import { existsSync } from 'node:fs';
import { escapedHidden, systemTime } from '@parley/core';
import type { Store } from '@parley/store';
import { type Command, InvalidArgumentError } from 'commander';
import { commandLine, type DataFolder } from './data-folder.ts';
import { type LoadedSettings, readSettings } from './settings.ts';
import { refuseWord } from './usage-errors.ts';

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
export function addDefault(parent: Command, name: string, description: string): Command {
  const command = parent.command(name, { isDefault: true }).allowExcessArguments();
  command.description(`${description} (default)`);
  return command.hook('preAction', () => {
    const [word] = command.args;
    if (word === undefined) return;
    const isTyped = parent.args[0] === name;
    if (isTyped) command.error(`error: too many arguments for '${name}': it takes none`);
    refuseWord(parent, word);
  });
}

/** A longer example does not move the effects of the others to the right. */
const MAX_EXAMPLE_COLUMN = 60;

/** Adds examples to the help of a command, and of the commands below it: each a command line and its effect. */
export function withExamples(
  command: Command,
  examples: readonly (readonly [line: string, effect: string])[],
  notes = '',
): Command {
  const lengths = examples.map(([line]) => line.length);
  const width = Math.max(...lengths.filter((length) => length <= MAX_EXAMPLE_COLUMN));
  const lines = examples.map(([line, effect]) => `  ${line.padEnd(width)}  ${effect}`.trimEnd());
  const text = ['', ...(notes === '' ? [] : [notes, '']), 'Examples:', ...lines].join('\n');
  return command.addHelpText('afterAll', text);
}

/** `17`, `#17` and `v3`: numbers of dead letters and versions. */
export function idNumber(text: string): number {
  const digits = /^(?:#|v)?(\d{1,15})(?:-seed)?$/.exec(text)?.[1];
  if (digits !== undefined) return Number(digits);
  throw new InvalidArgumentError('Use a number such as 17.');
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
  return group.option('--agent <name>', 'work on this agent instead of the default one');
}

/** A command, or a group of them, with `--json`, which may stand before or after a command of the group. */
export function withJson(command: Command): Command {
  return command.option('--json', 'print JSON for programs');
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
