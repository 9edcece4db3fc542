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
/** Far more than the files of a complete run need. */
const NEEDED_BYTES = 2 * 1024 ** 3;

/**
 * Puts the temporary files of this process and its children into memory until the returned function
 * is called: tests commit to hundreds of databases with `synchronous=full`, and a disk would slow
 * them down. Does nothing when `TMPDIR` is set, when the memory file system is too small, or when
 * it does not run programs.
 */
export function useMemoryFolder(): () => void {
  if (process.env.TMPDIR !== undefined || !isSuitable()) return () => undefined;
  removeAbandoned();
  const folder = mkdtempSync(join(SHARED_MEMORY, `parley-tests-${process.pid}-`));
  // The PostgreSQL server runs as another user.
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

/** Removes the leftovers of killed runs, which would occupy memory until the machine restarts. */
function removeAbandoned(): void {
  for (const name of readdirSync(SHARED_MEMORY)) {
    const [, pid] = /^parley-tests-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    try {
      rmSync(join(SHARED_MEMORY, name), { recursive: true, force: true });
    } catch (error) {
      // A killed run may have left a file system mounted in it; that must not stop the tests.
      process.stderr.write(`${join(SHARED_MEMORY, name)} cannot be removed: ${String(error)}\n`);
    }
  }
}
