import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { ParleyError, toDisplayText } from '@parley/core';
import { type Command, CommanderError } from 'commander';
import type { CliContext, RunCommand } from './cli.ts';
import {
  CliError,
  type DataFolder,
  findInstance,
  locateDataFolder,
  UsageError,
} from './data-folder.ts';
import { createProgram } from './program.ts';

interface GlobalFlags {
  readonly data?: string;
  readonly config?: string;
  /** The name of the agent, for commands that concern one agent. */
  readonly agent?: string;
  readonly json?: boolean;
}

export interface CommandStreams {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

/**
 * Runs the command line. Resolves to the exit code: 0 success, 1 failure, 2 incorrect usage, 3 no
 * running gateway.
 */
export async function main(
  args: readonly string[],
  { stdout, stderr }: CommandStreams = process,
): Promise<number> {
  const { env } = process;
  let code = 0;
  let asked: Pick<CliContext, 'agent' | 'json'> = {};
  let path = 'parley';
  let scrub = (text: string): string => text;
  const print = (text: string) => void stdout.write(`${toDisplayText(scrub(text))}\n`);
  const starting: RunCommand = async (command) => {
    code = await command({
      folder: resolveDataFolder(program.opts<GlobalFlags>()),
      env,
      print,
      ...asked,
    });
  };
  const bare: RunCommand = (command) =>
    starting(async (cli) => {
      const folder = resolveStartedSettings(cli.folder, program.opts());
      if (asked.agent !== undefined) await checkAgent(folder, env, asked.agent);
      return command({ ...cli, folder });
    });
  const run: RunCommand = (command) =>
    bare(async (cli) => {
      scrub = (await import('./settings.ts')).createSecretScrubber(cli.folder, env);
      return command(cli);
    });
  const program = createProgram({ run, bare, starting });
  program.hook('preAction', (_program, command) => {
    const { agent, json } = command.optsWithGlobals<GlobalFlags>();
    asked = { agent, json };
    path = getCommandPath(command);
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof UsageError) {
      const message = toDisplayText(scrub(error.message));
      stderr.write(`error: ${message}\nSee "${path} --help".\n`);
      return 2;
    }
    if (error instanceof ParleyError) {
      stderr.write(`\n${toDisplayText(scrub(error.message))}\n`);
      return 1;
    }
    throw error;
  }
}

/** Returns the full name of a command, such as `parley dead show`. */
function getCommandPath(command: Command): string {
  const { parent } = command;
  return parent === null ? command.name() : `${getCommandPath(parent)} ${command.name()}`;
}

/** Throws CliError for an agent that is not in the settings, before the command runs. */
async function checkAgent(folder: DataFolder, env: NodeJS.ProcessEnv, agent: string) {
  const { findChosenAgent, readSettings } = await import('./settings.ts');
  findChosenAgent(readSettings(folder, env), agent);
}

/**
 * Uses the settings file that the running gateway was started with, unless the user names a file.
 */
function resolveStartedSettings(folder: DataFolder, { config }: GlobalFlags): DataFolder {
  const settingsFile = config === undefined ? findInstance(folder)?.settings : undefined;
  return settingsFile === undefined ? folder : { ...folder, settingsFile };
}

/**
 * Throws CliError if the user names a settings file that does not exist, because using the defaults
 * would hide a typo.
 */
function resolveDataFolder(flags: GlobalFlags): DataFolder {
  const folder = locateDataFolder(flags.data, process.env);
  if (flags.config === undefined) return folder;
  const settingsFile = resolve(flags.config);
  if (existsSync(settingsFile)) return { ...folder, settingsFile };
  throw new CliError(
    'settings-missing',
    `There is no settings file ${settingsFile}. Check --config, or leave it out to use ${folder.settingsFile}.`,
  );
}
