import { existsSync } from 'node:fs';
import { escapeHiddenCharacters, systemTime } from '@parley/core';
import type { Store } from '@parley/store';
import { type Command, InvalidArgumentError } from 'commander';
import { type DataFolder, formatCommandLine } from './data-folder.ts';
import { type LoadedSettings, readSettings } from './settings.ts';
import { rejectUnknownWord } from './usage-errors.ts';

export interface CliContext {
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
  readonly print: (text: string) => void;
  /** The agent selected with `--agent` (F14); undefined for the default one. */
  readonly agent?: string | undefined;
  /** Set by `--json`: operations print their responses unformatted. */
  readonly json?: boolean | undefined;
}

/** Runs a command, whose code is loaded only when it runs. */
export type RunCommand = (command: (cli: CliContext) => Promise<number>) => Promise<void>;

export interface CommandRunners {
  /** Runs a command whose output is scrubbed of all secrets in the settings (G18). */
  readonly run: RunCommand;
  /** Runs a command whose purpose is to show a secret, without scrubbing its output. */
  readonly bare: RunCommand;
  /**
   * Runs a command that starts a process. Commands that start a process ignore which settings file
   * a running gateway uses.
   */
  readonly starting: RunCommand;
}

/** Loads a command's module on first use and runs one of its functions. */
export function createModuleRunner<Module>(run: RunCommand, load: () => Promise<Module>) {
  return (work: (module: Module, cli: CliContext) => Promise<number>) =>
    run(async (cli) => work(await load(), cli));
}

/** Adds a command with its arguments (`show <number>`), description and action. */
export function addCommand<Given extends unknown[]>(
  parent: Command,
  usage: string,
  description: string,
  action?: (...given: Given) => Promise<void>,
): Command {
  const command = parent.command(usage).description(description);
  return action === undefined ? command : command.action(action);
}

/**
 * Makes a subcommand the default of its command group. Any other word is rejected as an unknown
 * command.
 */
export function addDefault(parent: Command, name: string, description: string): Command {
  const command = parent.command(name, { isDefault: true }).allowExcessArguments();
  command.description(`${description} (default)`);
  return command.hook('preAction', () => {
    const [word] = command.args;
    if (word === undefined) return;
    const isTyped = parent.args[0] === name;
    if (isTyped) command.error(`error: too many arguments for '${name}': it takes none`);
    rejectUnknownWord(parent, word);
  });
}

/** Examples longer than this do not affect the alignment of the explanations. */
const MAX_EXAMPLE_COLUMN = 60;

/** Adds examples to the help of a command; each consists of a command line and its effect. */
export function addExamples(
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

/** Parses `17`, `#17` or `v3` (the number of a dead letter or a version). */
export function parseIdNumber(text: string): number {
  const digits = /^(?:#|v)?(\d{1,15})(?:-seed)?$/.exec(text)?.[1];
  if (digits !== undefined) return Number(digits);
  throw new InvalidArgumentError('Use a number such as 17.');
}

/** Returns a parser for whole numbers between `least` and `most`. */
export function createNumberParser(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (Number.isInteger(number) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a number from ${least} to ${most}.`);
  };
}

/** Parses a calendar date, such as `2026-11-21`. */
export function parseIsoDate(text: string): string {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  // JavaScript's date parsing turns `2026-02-30` into a day in March.
  if (!Number.isNaN(at) && new Date(at).toISOString().startsWith(text)) return text;
  throw new InvalidArgumentError('It must be a date such as 2026-11-21.');
}

/**
 * Adds the `--agent` option to a group of commands that work on a single agent. The option is
 * accepted before or after the command (F14).
 */
export function addAgentOption(group: Command): Command {
  return group.option('--agent <name>', 'work on this agent instead of the default one');
}

/**
 * Adds the `--json` option to a command or a group. In a command group, the option is accepted
 * before or after the command.
 */
export function addJsonOption(command: Command): Command {
  return command.option('--json', 'print JSON for programs');
}

/**
 * Marks a command in a `--json` group as one without JSON output, so that it rejects the option.
 */
export function removeJsonOption(command: Command): Command {
  return command.hook('preAction', () => {
    if (command.optsWithGlobals<{ readonly json?: boolean }>().json)
      command.error("error: unknown option '--json'");
  });
}

type Installation = Pick<CliContext, 'folder' | 'env'>;
type StoreWork<T> = (store: Store, loaded: LoadedSettings) => Promise<T>;

/** Commands that only read must not create a database, so they call this first. */
export function hasDatabase({ storeUrl }: DataFolder, { settings }: LoadedSettings): boolean {
  return settings.store.url !== undefined || existsSync(storeUrl.replace(/^sqlite:/, ''));
}

/** Opens the database for a command, whether or not a gateway is running. */
export async function withStore<T>({ folder, env }: Installation, work: StoreWork<T>): Promise<T> {
  const loaded = readSettings(folder, env);
  // The store is loaded lazily, because most commands ask a running gateway instead.
  const { openStore } = await import('@parley/store');
  const { READ_SO_FAR, readStoreMark, assertDatabaseNotLost } = await import('./database-mark.ts');
  const { settings } = loaded;
  assertDatabaseNotLost(folder, settings);
  const url = settings.store.url ?? folder.storeUrl;
  // If the clock was set back, the database records this and the gateways report it.
  const state = { seen: readStoreMark(folder, settings), forget: READ_SO_FAR, onSetback: () => {} };
  const store = await openStore({ url, clock: systemTime.clock, state });
  try {
    return await work(store, loaded);
  } finally {
    await store.close();
  }
}

/** Prints that no gateway is running, and returns the exit code for this case. */
export function reportNotRunning({ folder, print }: CliContext): number {
  print(
    `No gateway is running on ${folder.path}. Start it with "${formatCommandLine('start', folder)}".`,
  );
  return 3;
}

export function formatJson(value: object): string {
  return JSON.stringify(value, null, 2).split('\n').map(escapeHiddenCharacters).join('\n');
}
