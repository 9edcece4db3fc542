import { lstat, readlink, stat } from 'node:fs/promises';

/** What a sandbox shows of the machine; nothing of it can be written. */
export type SystemMount =
  | { readonly kind: 'read-only'; readonly path: string }
  | { readonly kind: 'link'; readonly path: string; readonly target: string };

/** Programs and libraries. On most systems all but the first are links into it. */
const PROGRAMS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
/** Of /etc only what programs need to start: no passwords, keys, or settings of services. */
const SETTINGS = [
  '/etc/alternatives',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/localtime',
  '/etc/mime.types',
  '/etc/magic',
];
/** Needed once there is a network. */
const NETWORK = [
  '/etc/resolv.conf',
  '/etc/hosts',
  '/etc/nsswitch.conf',
  '/etc/services',
  '/etc/ssl/certs',
  '/etc/pki/tls/certs',
  '/etc/ca-certificates',
];

/** Looks which of the known parts of a system this machine has. */
export async function systemMounts(network: boolean): Promise<readonly SystemMount[]> {
  const paths = [...PROGRAMS, ...SETTINGS, ...(network ? NETWORK : [])];
  const mounts = await Promise.all(paths.map(mountOf));
  return mounts.filter((mount) => mount !== null);
}

async function mountOf(path: string): Promise<SystemMount | null> {
  try {
    const found = await lstat(path);
    // Folders of programs that are links stay links; of settings, what they lead to is shown.
    if (found.isSymbolicLink() && PROGRAMS.includes(path)) {
      return { kind: 'link', path, target: await readlink(path) };
    }
    await stat(path);
    return { kind: 'read-only', path };
  } catch {
    return null; // Not on this machine, which is usual: each distribution has some of them.
  }
}
