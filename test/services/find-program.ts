import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { PROGRAMS, type ServiceName } from './programs.ts';
import type { ServiceStart } from './provided.ts';

/** Where to look for a program: its possible names, and folders beyond the PATH. */
export interface ProgramSearch {
  readonly names: readonly string[];
  readonly folders?: readonly string[];
  /** The environment variable that names the program, or disables it with `none`. */
  readonly variable: string;
}

export type FoundProgram =
  | { readonly path: string }
  | { readonly reason: string; readonly canInstall: boolean };

/**
 * The path of an executable, or the reason why there is none. A program named in the environment is
 * the only candidate, so that a wrong name is noticed and `none` switches a service off.
 */
export function findProgram(
  { variable, names, folders = [] }: ProgramSearch,
  environment: NodeJS.ProcessEnv = process.env,
): FoundProgram {
  const named = environment[variable];
  if (named === 'none') return { reason: `switched off by ${variable}=none`, canInstall: false };
  if (named !== undefined && named !== '') {
    return isExecutable(named)
      ? { path: named }
      : { reason: `${variable}=${named} is not an executable file`, canInstall: false };
  }
  for (const name of names) {
    for (const folder of [...(environment.PATH ?? '').split(delimiter), ...folders]) {
      const path = join(folder, name);
      if (folder !== '' && isExecutable(path)) return { path };
    }
  }
  return { reason: `found no ${names.join(', ')} on the PATH`, canInstall: true };
}

/** A program that the tests start themselves, after a trial run showed that it works here. */
export async function findTool(name: ServiceName): Promise<ServiceStart> {
  const path = PATHS[name];
  const found =
    path === undefined ? findProgram(PROGRAMS[name]) : findPath(path, PROGRAMS[name].variable);
  if ('reason' in found) return { state: 'missing', ...found };
  const problem = TRIES[name]?.(found.path) ?? null;
  return problem === null
    ? { state: 'ready', value: found.path, stop: async () => undefined }
    : { state: 'missing', ...problem };
}

type ProgramProblem = { readonly reason: string; readonly canInstall: boolean };

/**
 * Programs of the same name differ between systems, and some work only for root or outside
 * containers.
 */
const TRIES: Partial<Record<ServiceName, (path: string) => ProgramProblem | null>> = {
  // On macOS, `git` may only offer to install the real program.
  git: (path) => findProblem(path, ['--version'], 'is not git itself'),
  // macOS has version 3.
  bash: (path) =>
    findProblem(path, ['-c', '[ "$BASH_VERSINFO" -ge 5 ]'], 'is older than version 5'),
  // BusyBox's tar does not have long options.
  tar: (path) =>
    findProblem(path, ['--version'], 'is neither GNU tar nor bsdtar', /GNU tar|bsdtar/),
  // BusyBox and macOS have different versions with other options.
  script: (path) =>
    findProblem(path, ['-q', '-e', '-c', 'true', '/dev/null'], "is not util-linux's script"),
  setpriv: (path) => findProblem(path, ['--version'], "is not util-linux's setpriv", /util-linux/),
  bubblewrap: (path) => {
    const problem = findProblem(path, SANDBOX, 'cannot make a sandbox here');
    // The program is installed, but the machine or its container forbids namespaces.
    return problem && { ...problem, canInstall: false };
  },
  mount: tryMount,
};

/** The sandbox options that a machine may forbid or an older bubblewrap may not know. */
const SANDBOX = [
  ...['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-uts', '--unshare-net'],
  ...['--disable-userns', '--uid', '1000', '--gid', '1000', '--ro-bind', '/', '/'],
  ...['--proc', '/proc', '--dev', '/dev', '/bin/sh', '-c', 'exit 0'],
];

function findProblem(
  path: string,
  args: readonly string[],
  what: string,
  says: RegExp = /^/,
): ProgramProblem | null {
  const { status, stdout, stderr } = spawnSync(path, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TRY_MS,
  });
  if (status === 0 && says.test(stdout)) return null;
  const [said = ''] = stderr.trim().split('\n');
  return { reason: `${path} ${what}${said === '' ? '' : `: ${said}`}`, canInstall: true };
}

/** A program that does not answer within this time, in ms, is not usable by tests. */
const TRY_MS = 10_000;

/** Tests that fill a disk mount a disk of their own. */
function tryMount(path: string): ProgramProblem | null {
  const folder = mkdtempSync(join(tmpdir(), 'parley-mount-'));
  try {
    const { status } = spawnSync(path, ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]);
    if (status === 0) spawnSync('umount', ['--lazy', folder]);
    const reason = 'only root may mount one, and not in every container';
    return status === 0 ? null : { reason, canInstall: false };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Requirements that are not programs, but come with the kernel. */
const PATHS: Partial<Record<ServiceName, string>> = { proc: '/proc/self', fullDevice: '/dev/full' };

function findPath(path: string, variable: string): FoundProgram {
  if (process.env[variable] === 'none')
    return { reason: `switched off by ${variable}=none`, canInstall: false };
  return existsSync(path) ? { path } : { reason: 'only Linux has it', canInstall: false };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
