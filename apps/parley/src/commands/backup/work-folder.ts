import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDatabaseBusy, lockFolder } from '../../data-folder.ts';

type WorkPrefix = 'restoring-' | 'backing-up-';

/** A file in the work folder that records the path of an unfinished file elsewhere. */
const ELSEWHERE = 'part';

interface WorkFolder extends Disposable {
  readonly path: string;
  /**
   * Registers an unfinished file that is outside the work folder. The file is removed together with
   * the folder, even if the process is killed.
   */
  alsoRemove(file: string): void;
}

/**
 * Creates a folder in the data folder for the duration of a backup or restore. The folder is
 * locked, so other processes can tell whether its owner is alive.
 */
export function openWorkFolder(dataFolder: string, prefix: WorkPrefix): WorkFolder {
  const path = mkdtempSync(join(dataFolder, prefix));
  const lock = lockFolder(path);
  return {
    path,
    alsoRemove: (file) => writeFileSync(join(path, ELSEWHERE), file),
    [Symbol.dispose]: () => removeFolder(path, lock),
  };
}

/**
 * Removes the work folders of killed processes, and the unfinished files registered in them.
 * Folders in use are kept.
 */
export function removeAbandonedFolders(dataFolder: string): void {
  for (const name of readdirSync(dataFolder)) {
    if (!/^(restoring-|backing-up-)/.test(name)) continue;
    const path = join(dataFolder, name);
    const lock = lockIfAbandoned(path);
    if (lock !== null) removeFolder(path, lock);
  }
}

function removeFolder(path: string, lock: { release(): void }): void {
  const part = join(path, ELSEWHERE);
  if (existsSync(part)) rmSync(readFileSync(part, 'utf8'), { force: true });
  lock.release();
  rmSync(path, { recursive: true, force: true });
}

function lockIfAbandoned(path: string): { release(): void } | null {
  try {
    return lockFolder(path);
  } catch (error) {
    if (isDatabaseBusy(error)) return null;
    throw error;
  }
}
