import { realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type Monotonic, systemTime } from '@parley/core';
import {
  buildBwrapArguments,
  DEFAULT_LIMITS,
  listSystemMounts,
  resolveProtectedPaths,
  SandboxError,
  type SandboxLimits,
} from './arguments.ts';
import { type CommandResult, runBwrap } from './run.ts';

/** The folders and limits of a sandbox. */
export interface SandboxOptions {
  /**
   * The only folder that commands can write to, and the only one of the user's folders that
   * commands can read.
   */
  readonly workspace: string;
  /**
   * Folders that the workspace must not contain, such as Parley's data folder and the home folder.
   */
  readonly forbidden: readonly string[];
  /** Whether commands can use the machine's network, including loopback; false when absent. */
  readonly network?: boolean;
  readonly limits?: Partial<SandboxLimits>;
  /** The path of bubblewrap; `bwrap` in the usual folders when absent. */
  readonly program?: string;
  /** The clock that measures the duration of a command, in ms. */
  readonly monotonic?: Monotonic;
}

export interface CommandOptions {
  readonly signal: AbortSignal;
  /** Overrides the sandbox's time limit, in ms. */
  readonly timeoutMs?: number | undefined;
  /**
   * Names in the workspace that the command can read but not move. Each file must exist until the
   * command has ended.
   */
  readonly closed?: readonly string[];
  /** Files in the workspace that the command can only read, if they exist. */
  readonly readOnly?: readonly string[];
}

/** Runs commands that can access only the workspace (G06). */
export interface Sandbox {
  /**
   * Runs a shell command line in a new sandbox. Throws SandboxError rather than running the command
   * unprotected.
   */
  run(command: string, options: CommandOptions): Promise<CommandResult>;
}

const PROGRAM = 'bwrap';
const SEARCHED = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'];

/** Creates a sandbox; each command runs in a separate instance that ends with it. */
export function openSandbox(options: SandboxOptions): Sandbox {
  const { network = false, program, monotonic = systemTime.monotonic } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  return {
    async run(command, { signal, timeoutMs = limits.timeoutMs, closed = [], readOnly = [] }) {
      const workspace = await checkWorkspaceFolder(options);
      const plan = {
        ...(await resolveProtectedPaths(workspace, closed)),
        workspace,
        readOnly: readOnly.map((name) => join(workspace, name)),
        system: await listSystemMounts(network),
        network,
        limits: { ...limits, timeoutMs },
      };
      const startedAt = monotonic();
      const outcome = await runBwrap({
        program: program ?? (await findBwrapProgram()),
        args: buildBwrapArguments(plan, command),
        workspace,
        limits: plan.limits,
        signal,
      });
      return { ...outcome, tookMs: monotonic() - startedAt };
    },
  };
}

/** PATH is not used, because another program of this name could come first. */
async function findBwrapProgram(): Promise<string> {
  for (const folder of SEARCHED) {
    const found = await realpath(`${folder}/${PROGRAM}`).catch(() => null);
    if (found !== null) return found;
  }
  return `${SEARCHED[0]}/${PROGRAM}`;
}

/**
 * Returns the workspace's real path after checking that it does not contain a folder that commands
 * must not access.
 */
async function checkWorkspaceFolder({ workspace, forbidden }: SandboxOptions): Promise<string> {
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
