import { execFile } from 'node:child_process';
import { homedir, userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';
import { isMissingFile } from '@parley/core';
import { findLauncherRoot } from '@parley/core/installation';
import { CliError } from '../../data-folder.ts';

/** The machine on which a service is installed. Tests provide their own folders and programs. */
export interface ServiceMachine {
  readonly platform: NodeJS.Platform;
  readonly uid: number;
  readonly user: string;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  readonly node: string;
  readonly launcher: string;
  /** Maps a system path to its real location; tests use their own. */
  readonly at: (path: string) => string;
  readonly run: (program: string, args: readonly string[]) => Promise<ProgramResult>;
}

export interface ProgramResult {
  readonly code: number;
  /** Standard output followed by standard error. */
  readonly out: string;
}

/** Manages Parley's service through systemd or launchd. */
export interface ServiceManager {
  readonly file: string;
  /** The command that prints the service's log. */
  readonly readLog: string;
  text(): Promise<string>;
  /** Returns the data folder named in a service file. */
  readonly folderIn: (text: string) => string | null;
  /** Throws CliError if no service can be installed; does not change anything. */
  check(): Promise<void>;
  /** Creates the folders and users that the service needs. */
  prepare(): Promise<void>;
  /** Reloads the service file, starts the service and enables it at boot. */
  start(): Promise<void>;
  /** Stops the service and disables it at boot. */
  stop(): Promise<void>;
  /** Makes the system unload the service after its service file was removed. */
  forget(): Promise<void>;
  state(): Promise<ServiceState>;
  /** Returns notes for the user, one line each. */
  notes(): readonly string[];
}

export interface ServiceState {
  readonly text: string;
  /** Whether the service has ended without being restarted. */
  readonly isFailing: boolean;
  readonly pid: number | null;
  readonly memoryBytes: number | null;
  readonly since: string | null;
  readonly restarts: number;
}

export function getCurrentMachine(env: NodeJS.ProcessEnv): ServiceMachine {
  return {
    platform: process.platform,
    uid: process.getuid?.() ?? -1,
    user: userInfo().username,
    home: homedir(),
    env,
    node: process.execPath,
    launcher: fileURLToPath(new URL('apps/parley/bin/parley.js', findLauncherRoot())),
    at: (path) => path,
    run: (program, args) => runProgram(program, args, env),
  };
}

/**
 * How long (ms) a program may run. `systemctl restart` waits up to 15 s for the previous process to
 * end.
 */
const RUN_WITHIN_MS = 60_000;
const NOT_FOUND = 127;

function runProgram(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ProgramResult> {
  const options = { env: { ...env, LC_ALL: 'C' }, timeout: RUN_WITHIN_MS };
  return new Promise((resolve) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) return resolve({ code: 0, out: `${stdout}${stderr}` });
      if (isMissingFile(error))
        return resolve({ code: NOT_FOUND, out: `${program} is not installed` });
      const code = typeof error.code === 'number' ? error.code : 1;
      return resolve({ code, out: `${stdout}${stderr}${error.killed ? 'it took too long' : ''}` });
    });
  });
}

/** Throws CliError unless the program succeeded. */
export async function requireSuccess(
  ended: Promise<ProgramResult>,
  otherwise: string,
): Promise<void> {
  const { code, out } = await ended;
  if (code === 0) return;
  throw new CliError(
    'service-command',
    `${otherwise}: ${out.trim() || `code ${code}`}. Fix the problem and run the command again.`,
  );
}
