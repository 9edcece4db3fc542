import { execFile } from 'node:child_process';
import { homedir, userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';
import { INSTALLATION } from '@parley/core/installation';
import { CliError } from '../../data-folder.ts';

/** The machine on which a service is installed; tests have folders and programs of their own. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly uid: number;
  readonly user: string;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  readonly node: string;
  readonly launcher: string;
  /** The real place of a system path. */
  readonly at: (path: string) => string;
  readonly run: (program: string, args: readonly string[]) => Promise<Ended>;
}

export interface Ended {
  readonly code: number;
  /** Both streams. */
  readonly out: string;
}

/** systemd or launchd, about the service of Parley. */
export interface ServiceManager {
  /** The file that is written. */
  readonly file: string;
  /** The command that prints its log. */
  readonly readLog: string;
  text(): Promise<string>;
  /** The data folder of a written file. */
  readonly folderIn: (text: string) => string | null;
  /** Throws CliError where no service can be installed. Changes nothing. */
  check(): Promise<void>;
  /** Prepares the folders and users that the file needs. */
  prepare(): Promise<void>;
  /** Reads the file again and starts the service with it, now and with the machine. */
  start(): Promise<void>;
  /** Ends the service, which does not start with the machine any more. */
  stop(): Promise<void>;
  /** After the file was removed. */
  forget(): Promise<void>;
  state(): Promise<ServiceState>;
  /** Notes for people, as lines. */
  notes(): readonly string[];
}

export interface ServiceState {
  readonly text: string;
  /** It ended and is not up again. */
  readonly isFailing: boolean;
  readonly pid: number | null;
  readonly memoryBytes: number | null;
  readonly since: string | null;
  readonly restarts: number;
}

export function thisMachine(env: NodeJS.ProcessEnv): Machine {
  return {
    platform: process.platform,
    uid: process.getuid?.() ?? -1,
    user: userInfo().username,
    home: homedir(),
    env,
    node: process.execPath,
    launcher: fileURLToPath(new URL('apps/parley/bin/parley.js', INSTALLATION)),
    at: (path) => path,
    run: (program, args) => runProgram(program, args, env),
  };
}

/** `systemctl restart` waits for the end of the process before, which takes 15 s at most. */
const RUN_WITHIN_MS = 60_000;
const NOT_FOUND = 127;

function runProgram(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Ended> {
  const options = { env: { ...env, LC_ALL: 'C' }, timeout: RUN_WITHIN_MS };
  return new Promise((resolve) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) return resolve({ code: 0, out: `${stdout}${stderr}` });
      if (error.code === 'ENOENT')
        return resolve({ code: NOT_FOUND, out: `${program} is not installed` });
      const code = typeof error.code === 'number' ? error.code : 1;
      return resolve({ code, out: `${stdout}${stderr}${error.killed ? 'it took too long' : ''}` });
    });
  });
}

/** Throws CliError unless the program ended well. */
export async function requireSuccess(ended: Promise<Ended>, otherwise: string): Promise<void> {
  const { code, out } = await ended;
  if (code === 0) return;
  throw new CliError(
    'service-command',
    `${otherwise}: ${out.trim() || `code ${code}`}. Correct that and run the command again.`,
  );
}
