import type { SandboxLimits } from './sandbox-limits.ts';
import type { SystemMount } from './system-mounts.ts';

/** What a sandbox is made of. All paths are real paths. */
export interface SandboxPlan {
  /** The only folder that can be written; it has the same path inside. */
  readonly workspace: string;
  /** Paths inside the workspace that can only be read. */
  readonly readOnly: readonly string[];
  /** The same for files of others, which may be gone by now. */
  readonly readOnlyIfThere: readonly string[];
  readonly system: readonly SystemMount[];
  readonly network: boolean;
  readonly limits: SandboxLimits;
}

/** Where bubblewrap reports, and where it reads the list of users from. */
export const STATUS_FD = 3;
export const USERS_FD = 4;
export const GROUPS_FD = 5;

/** Somebody without rights; the files of the workspace look like theirs. */
const USER = '1000';
/** What `whoami` and programs that ask who they run for find. */
export const USERS = (home: string): string => `parley:x:${USER}:${USER}::${home}:/bin/sh\n`;
export const GROUPS = `parley:x:${USER}:\n`;

/**
 * The arguments of bubblewrap for one command (G06). Order matters: later mounts lie over earlier
 * ones, and the root is closed last. Pure.
 */
export function bwrapArguments(plan: SandboxPlan, command: string): string[] {
  const { workspace, readOnly, readOnlyIfThere, system, network, limits } = plan;
  return [
    ...[
      '--unshare-user',
      '--unshare-ipc',
      '--unshare-pid',
      '--unshare-uts',
      '--unshare-cgroup-try',
    ],
    ...(network ? [] : ['--unshare-net']),
    // No namespaces within: they are what most ways out of a sandbox begin with.
    '--disable-userns',
    ...['--uid', USER, '--gid', USER, '--cap-drop', 'ALL', '--hostname', 'sandbox'],
    // Without a session of its own, a command could type into the terminal Parley was started from.
    ...['--new-session', '--die-with-parent'],
    '--clearenv',
    ...Object.entries(environment(workspace)).flatMap(([name, value]) => ['--setenv', name, value]),
    ...system.flatMap(mountArguments),
    ...['--ro-bind-data', String(USERS_FD), '/etc/passwd'],
    ...['--ro-bind-data', String(GROUPS_FD), '/etc/group'],
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['--size', String(limits.scratchBytes), '--tmpfs', '/dev/shm'],
    ...['--size', String(limits.scratchBytes), '--tmpfs', '/tmp'],
    ...['--bind', workspace, workspace],
    ...readOnlyIfThere.flatMap((path) => ['--ro-bind-try', path, path]),
    ...readOnly.flatMap((path) => ['--ro-bind', path, path]),
    ...['--remount-ro', '/dev', '--remount-ro', '/'],
    ...['--chdir', workspace, '--json-status-fd', String(STATUS_FD)],
    ...['--', '/bin/sh', '-c', limited(limits), 'sh', command],
  ];
}

function environment(workspace: string): Readonly<Record<string, string>> {
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin',
    LANG: 'C.UTF-8',
    HOME: workspace,
    TMPDIR: '/tmp',
  };
}

function mountArguments(mount: SystemMount): string[] {
  return mount.kind === 'link'
    ? ['--symlink', mount.target, mount.path]
    : ['--ro-bind', mount.path, mount.path];
}

/**
 * Sets the limits, then becomes the command. Limits that a shell does not know are left to the watch
 * over the whole sandbox. Both outputs go one way, so that their order is kept.
 */
function limited({ processes, memoryBytes, fileBytes, diskBytes }: SandboxLimits): string {
  const kilobytes = Math.ceil(memoryBytes / 1_024);
  // `sh` counts files in blocks of 512 bytes, bash called as sh in posix mode as well.
  const blocks = Math.ceil(Math.min(fileBytes, diskBytes) / 512);
  return [
    'exec 2>&1',
    'ulimit -c 0',
    `ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes} 2>/dev/null`,
    `ulimit -d ${kilobytes} 2>/dev/null`,
    `ulimit -f ${blocks} 2>/dev/null`,
    'ulimit -n 1024 2>/dev/null',
    'if [ -x /bin/bash ]; then set -- /bin/bash -c "$1"; else set -- /bin/sh -c "$1"; fi',
    // Whatever it computes, other chats come first.
    'if [ -x /usr/bin/nice ]; then exec /usr/bin/nice -n 19 "$@"; else exec "$@"; fi',
  ].join('\n');
}
