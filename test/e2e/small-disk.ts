import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A disk that a test can fill up. Creating the disk requires root, and fails in some containers.
 */
export interface SmallDisk {
  readonly path: string;
  /** Fills the disk completely. */
  fill(): void;
  empty(): void;
  remove(): void;
}

/**
 * Mounts some MB of memory, by default twice the maximum size of a new data folder. Throws where
 * mounting is not allowed, so a test must first declare `mountPath`.
 */
export function mountSmallDisk(megabytes = 6): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), 'parley-disk-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path]);
  if (status !== 0) {
    rmSync(path, { recursive: true, force: true });
    throw new Error('This process may not mount a disk.');
  }
  const filler = join(path, 'filler');
  return {
    path,
    fill() {
      // Writes ever smaller pieces until not even one byte fits.
      for (let size = 1_048_576; size >= 1; ) {
        try {
          writeFileSync(filler, Buffer.alloc(size), { flag: 'a' });
        } catch {
          size = Math.floor(size / 2);
        }
      }
    },
    empty: () => rmSync(filler),
    remove() {
      spawnSync('umount', ['--lazy', path]);
      rmSync(path, { recursive: true, force: true });
    },
  };
}
