import { realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type Monotonic, systemTime } from '@parley/core';
import {
  bwrapArguments,
  closedPaths,
  DEFAULT_LIMITS,
  SandboxError,
  type SandboxLimits,
  systemMounts,
} from './arguments.ts';
import { type CommandResult, runBwrap } from './run.ts';

/** The folders and limits of commands. */
export interface SandboxOptions {
  /** The only folder a command can write, and the only one of its owner that it can read. */
  readonly workspace: string;
  /** Folders that must not lie within the workspace, such as Parley's data and the home. */
  readonly forbidden: readonly string[];
  /** True: the network as this machine has it, with its loopback. Absent: none at all. */
  readonly network?: boolean;
  readonly limits?: Partial<SandboxLimits>;
  /** Absent: `bwrap`, where programs usually are. */
  readonly program?: string;
  /** In ms, for the time a command took. */
  readonly monotonic?: Monotonic;
}

/** The options of one command. */
export interface CommandOptions {
  readonly signal: AbortSignal;
  /** In ms, instead of that of the sandbox. */
  readonly timeoutMs?: number | undefined;
  /** Names in the workspace that it can only read and not move. Each must be there until it has ended. */
  readonly closed?: readonly string[];
  /** Files in the workspace that it can only read, as far as they exist. */
  readonly readOnly?: readonly string[];
}

/** Runs commands where they reach nothing but the workspace (G06). */
export interface Sandbox {
  /** A command line of the shell. Throws SandboxError instead of running it unprotected. */
  run(command: string, options: CommandOptions): Promise<CommandResult>;
}

const PROGRAM = 'bwrap';
const SEARCHED = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'];

/** Makes a sandbox; each command gets one of its own, which ends with it. */
export function openSandbox(options: SandboxOptions): Sandbox {
  const { network = false, program, monotonic = systemTime.monotonic } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  return {
    async run(command, { signal, timeoutMs = limits.timeoutMs, closed = [], readOnly = [] }) {
      const workspace = await closedFolder(options);
      const plan = {
        ...(await closedPaths(workspace, closed)),
        workspace,
        readOnly: readOnly.map((name) => join(workspace, name)),
        system: await systemMounts(network),
        network,
        limits: { ...limits, timeoutMs },
      };
      const startedAt = monotonic();
      const outcome = await runBwrap({
        program: program ?? (await findProgram()),
        args: bwrapArguments(plan, command),
        workspace,
        limits: plan.limits,
        signal,
      });
      return { ...outcome, tookMs: monotonic() - startedAt };
    },
  };
}

/** Not by PATH: another program of this name could be found first. */
async function findProgram(): Promise<string> {
  for (const folder of SEARCHED) {
    const found = await realpath(`${folder}/${PROGRAM}`).catch(() => null);
    if (found !== null) return found;
  }
  return `${SEARCHED[0]}/${PROGRAM}`;
}

/** The real path of the workspace, once nothing lies in it that commands must not see. */
async function closedFolder({ workspace, forbidden }: SandboxOptions): Promise<string> {
  const folder = await realpath(workspace).catch((cause: unknown) => {
    const message = `Commands are not run, because the workspace ${workspace} cannot be opened.`;
    throw new SandboxError('sandbox-folder', message, cause);
  });
  for (const path of [...forbidden, '/usr', '/etc', '/proc', '/dev', '/tmp']) {
    const real = await realpath(path).catch(() => path);
    if (!isInsideFolder(folder, real)) continue;
    const message = `Commands are not run, because the workspace ${folder} contains ${real}, which they must not reach. Give the agent a folder of its own with agent.workspace.`;
    throw new SandboxError('sandbox-folder', message);
  }
  return folder;
}

function isInsideFolder(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || !(way === '..' || way.startsWith('../'));
}
