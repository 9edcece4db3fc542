import { readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';

/** The numeric ids of a user to run a program as. */
export type UnixUser = { readonly uid: number; readonly gid: number };

/**
 * The user for a program that refuses to run as root: undefined when we are not root, otherwise the
 * first of `names` that this machine knows. Throws when it knows none.
 */
export function findUnprivilegedUser(names: readonly string[]): UnixUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of names) {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
    if (uid !== undefined && gid !== undefined && uid !== '0') {
      return { uid: Number(uid), gid: Number(gid) };
    }
  }
  throw new Error(`it refuses to run as root, and there is no user ${names.join(' or ')}`);
}

/**
 * A folder for temporary files that other users can enter as well, since root's own may be closed
 * to them.
 */
export function findSharedTemporaryFolder(): string {
  const usual = tmpdir();
  for (let folder = usual; folder !== dirname(folder); folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return '/tmp';
  }
  return usual;
}
