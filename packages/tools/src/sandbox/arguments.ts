import { lstat, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ParleyError } from '@parley/core';

export interface SandboxLimits {
  /** The time limit, in ms, after which everything in the sandbox is killed. */
  readonly timeoutMs: number;
  /** How much output is kept, in characters: half from the start and half from the end. */
  readonly outputCharacters: number;
  /** The maximum number of concurrent processes. */
  readonly processes: number;
  /** The memory limit of all processes together, and of each one, in bytes. */
  readonly memoryBytes: number;
  /** The limit on all data written to the workspace, including deleted data, in bytes. */
  readonly diskBytes: number;
  /** The largest file a command can write, in bytes. */
  readonly fileBytes: number;
  /** The size of the private /tmp, and also of /dev/shm, in bytes; both are held in memory. */
  readonly scratchBytes: number;
}

/**
 * The default limits: one minute, 30,000 characters, 128 processes, 1 GB of memory, 2 GB written in
 * files of up to 1 GB, 256 MB of /tmp.
 */
export const DEFAULT_LIMITS: SandboxLimits = {
  timeoutMs: 60_000,
  outputCharacters: 30_000,
  processes: 128,
  memoryBytes: 1_000_000_000,
  diskBytes: 2_000_000_000,
  fileBytes: 1_000_000_000,
  scratchBytes: 256_000_000,
};

/**
 * `sandbox-missing`: bubblewrap is not installed. `sandbox-forbidden`: the machine does not allow
 * bubblewrap to create a sandbox. `sandbox-folder`: the workspace contains folders that commands
 * must not access.
 */
export type SandboxErrorCode = 'sandbox-missing' | 'sandbox-forbidden' | 'sandbox-folder';

/** Thrown instead of running a command unprotected. The message explains how to fix the problem. */
export class SandboxError extends ParleyError {
  constructor(code: SandboxErrorCode, message: string, cause?: unknown) {
    super({ code, message, retryable: false, cause });
  }
}

/** The error for a machine without bubblewrap. */
export function createMissingError(program: string, cause: unknown): SandboxError {
  const message = `Commands are not run, because bubblewrap (${program}) is not installed, and they never run unprotected. Install the package "bubblewrap": apt install bubblewrap, dnf install bubblewrap, apk add bubblewrap. It exists on Linux only.`;
  return new SandboxError('sandbox-missing', message, cause);
}

/**
 * The error for a machine where bubblewrap cannot create a sandbox; `said` is bubblewrap's output.
 */
export function createForbiddenError(said: string): SandboxError {
  const reason = said.trim() === '' ? 'it did not say why' : said.trim().slice(0, 500);
  const message = `Commands are not run, because bubblewrap cannot make a sandbox here (${reason}), and they never run unprotected. It needs user namespaces: sysctl kernel.unprivileged_userns_clone=1, or on newer Ubuntu kernel.apparmor_restrict_unprivileged_userns=0; in Docker they need a seccomp profile that allows them.`;
  return new SandboxError('sandbox-forbidden', message);
}

/**
 * The folders and files that a sandbox is built from. All paths are real paths, without symbolic
 * links.
 */
interface SandboxPlan extends ProtectedPaths {
  /** The only writable folder; it has the same path inside and outside the sandbox. */
  readonly workspace: string;
  /** Additional read-only files, which may have been deleted. */
  readonly readOnly: readonly string[];
  readonly system: readonly SystemMount[];
  readonly network: boolean;
  readonly limits: SandboxLimits;
}

/** The file descriptors of bubblewrap's status reports and of the user list. */
export const STATUS_FD = 3;
export const USERS_FD = 4;
export const GROUPS_FD = 5;

/** An unprivileged user that appears to own the files in the workspace. */
const USER = '1000';
/** The user and group that `whoami` and other programs find. */
export const USERS = (home: string): string => `parley:x:${USER}:${USER}::${home}:/bin/sh\n`;
export const GROUPS = `parley:x:${USER}:\n`;

/**
 * Builds bubblewrap's arguments for one command (G06). The order of the arguments matters: later
 * mounts cover earlier ones, and the root becomes read-only last. Pure.
 */
export function buildBwrapArguments(plan: SandboxPlan, command: string): string[] {
  const { workspace, closed, pinned, readOnly, system, network, limits } = plan;
  return [
    ...[
      '--unshare-user',
      '--unshare-ipc',
      '--unshare-pid',
      '--unshare-uts',
      '--unshare-cgroup-try',
    ],
    ...(network ? [] : ['--unshare-net']),
    // No nested namespaces, because most sandbox escapes start with them.
    '--disable-userns',
    ...['--uid', USER, '--gid', USER, '--cap-drop', 'ALL', '--hostname', 'sandbox'],
    // Without a separate session, a command could type into the terminal from which Parley was
    // started.
    ...['--new-session', '--die-with-parent'],
    '--clearenv',
    ...Object.entries(createSandboxEnvironment(workspace)).flatMap(([name, value]) => [
      '--setenv',
      name,
      value,
    ]),
    ...system.flatMap(createMountArguments),
    ...['--ro-bind-data', String(USERS_FD), '/etc/passwd'],
    ...['--ro-bind-data', String(GROUPS_FD), '/etc/group'],
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['--size', String(limits.scratchBytes), '--tmpfs', '/dev/shm'],
    ...['--size', String(limits.scratchBytes), '--tmpfs', '/tmp'],
    ...['--bind', workspace, workspace],
    // A mount point cannot be moved, so no other folder can replace it.
    ...pinned.flatMap((path) => ['--bind', path, path]),
    ...readOnly.flatMap((path) => ['--ro-bind-try', path, path]),
    ...closed.flatMap((path) => ['--ro-bind', path, path]),
    ...['--remount-ro', '/dev', '--remount-ro', '/'],
    ...['--chdir', workspace, '--json-status-fd', String(STATUS_FD)],
    ...['--', '/bin/sh', '-c', createLimitScript(limits), 'sh', command],
  ];
}

function createSandboxEnvironment(workspace: string): Readonly<Record<string, string>> {
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin',
    LANG: 'C.UTF-8',
    HOME: workspace,
    TMPDIR: '/tmp',
  };
}

function createMountArguments(mount: SystemMount): string[] {
  return mount.kind === 'link'
    ? ['--symlink', mount.target, mount.path]
    : ['--ro-bind', mount.path, mount.path];
}

/**
 * Sets the limits and then executes the command. The monitoring of the whole sandbox enforces
 * limits that a shell does not support. Standard output and standard error share one stream, which
 * preserves their order.
 */
function createLimitScript({
  processes,
  memoryBytes,
  fileBytes,
  diskBytes,
}: SandboxLimits): string {
  const kilobytes = Math.ceil(memoryBytes / 1_024);
  // `sh` counts file sizes in blocks of 512 bytes, and so does bash when called as sh in POSIX
  // mode.
  const blocks = Math.ceil(Math.min(fileBytes, diskBytes) / 512);
  return [
    'exec 2>&1',
    'ulimit -c 0',
    `ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes} 2>/dev/null`,
    `ulimit -d ${kilobytes} 2>/dev/null`,
    `ulimit -f ${blocks} 2>/dev/null`,
    'ulimit -n 1024 2>/dev/null',
    'if [ -x /bin/bash ]; then set -- /bin/bash -c "$1"; else set -- /bin/sh -c "$1"; fi',
    // A command has the lowest priority, so that other chats come first.
    'if [ -x /usr/bin/nice ]; then exec /usr/bin/nice -n 19 "$@"; else exec "$@"; fi',
  ].join('\n');
}

/** The system paths visible in a sandbox; all are read-only. */
type SystemMount =
  | { readonly kind: 'read-only'; readonly path: string }
  | { readonly kind: 'link'; readonly path: string; readonly target: string };

/**
 * Programs and libraries. On most systems, all these paths except the first are links into the
 * first one.
 */
const PROGRAMS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
/** Only the files in /etc that programs need to start: no passwords, keys, or service settings. */
const SETTINGS = [
  '/etc/alternatives',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/localtime',
  '/etc/mime.types',
  '/etc/magic',
];
/** Additional files needed with network access. */
const NETWORK = [
  '/etc/resolv.conf',
  '/etc/hosts',
  '/etc/nsswitch.conf',
  '/etc/services',
  '/etc/ssl/certs',
  '/etc/pki/tls/certs',
  '/etc/ca-certificates',
];

/** Finds out which of the known system paths exist on this machine. */
export async function listSystemMounts(network: boolean): Promise<readonly SystemMount[]> {
  const paths = [...PROGRAMS, ...SETTINGS, ...(network ? NETWORK : [])];
  const mounts = await Promise.all(paths.map(findMount));
  return mounts.filter((mount) => mount !== null);
}

async function findMount(path: string): Promise<SystemMount | null> {
  try {
    const found = await lstat(path);
    // Program folders that are links stay links; for settings files, the link's target is shown.
    if (found.isSymbolicLink() && PROGRAMS.includes(path)) {
      return { kind: 'link', path, target: await readlink(path) };
    }
    await stat(path);
    return { kind: 'read-only', path };
  } catch {
    return null; // A missing path is expected, because every distribution has only some of them.
  }
}

/** Read-only paths, and the folders leading to them, which a command cannot move or replace. */
export interface ProtectedPaths {
  readonly closed: readonly string[];
  readonly pinned: readonly string[];
}

/**
 * Resolves names in the workspace to protected paths (W06, W09). Each path must exist, because
 * otherwise a command could create it. Throws SandboxError if a path is missing or is a link, whose
 * target would be exposed.
 */
export async function resolveProtectedPaths(
  workspace: string,
  names: readonly string[],
): Promise<ProtectedPaths> {
  const pinned = new Set<string>();
  const closed: string[] = [];
  for (const name of names) {
    const segments = name.split('/').filter((segment) => segment !== '');
    const onTheWay = segments.map((_, index) => join(workspace, ...segments.slice(0, index + 1)));
    for (const path of onTheWay) await assertProtectable(path);
    for (const path of onTheWay.slice(0, -1)) pinned.add(path);
    closed.push(join(workspace, ...segments));
  }
  return { closed, pinned: [...pinned] };
}

async function assertProtectable(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found?.isFile() === true || found?.isDirectory() === true) return;
  const message = `Commands are not run, because ${path} is neither a file nor a folder and cannot be protected. Put a plain file in its place.`;
  throw new SandboxError('sandbox-folder', message);
}
