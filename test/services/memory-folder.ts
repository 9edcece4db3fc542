import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
} from 'node:fs';
import { join } from 'node:path';

const SHARED_MEMORY = '/dev/shm';
/** Far more than the files of a whole run take. */
const NEEDED_BYTES = 2 * 1024 ** 3;

/**
 * Puts the temporary files of this process and of those it starts into memory until the returned function
 * is called: tests commit to hundreds of databases with `synchronous=full`, and a disk would make them wait.
 * Leaves them where they are when `TMPDIR` is set, or where the memory is too small or runs no programs.
 */
export function useMemoryFolder(): () => void {
  if (process.env.TMPDIR !== undefined || !isSuitable()) return () => undefined;
  removeAbandoned();
  const folder = mkdtempSync(join(SHARED_MEMORY, `parley-tests-${process.pid}-`));
  // The server of PostgreSQL runs as another user.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  return () => {
    delete process.env.TMPDIR;
    rmSync(folder, { recursive: true, force: true });
  };
}

function isSuitable(): boolean {
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
    const options = mounts.find((line) => line.split(' ')[1] === SHARED_MEMORY)?.split(' ')[3];
    return bavail * bsize >= NEEDED_BYTES && options?.split(',').includes('noexec') === false;
  } catch {
    return false;
  }
}

/** What runs that were killed have left: it would take memory until the machine is restarted. */
function removeAbandoned(): void {
  for (const name of readdirSync(SHARED_MEMORY)) {
    const [, pid] = /^parley-tests-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    try {
      rmSync(join(SHARED_MEMORY, name), { recursive: true, force: true });
    } catch (error) {
      // A killed run may have left a file system mounted in it; that is no reason not to test.
      process.stderr.write(`${join(SHARED_MEMORY, name)} cannot be removed: ${String(error)}\n`);
    }
  }
}
