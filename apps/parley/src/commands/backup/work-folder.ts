import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDatabaseBusy, lockFolder } from '../../data-folder.ts';

type WorkPrefix = 'restoring-' | 'backing-up-';

/** In a work folder: the path of an unfinished file that lies elsewhere. */
const ELSEWHERE = 'part';

interface WorkFolder extends Disposable {
  readonly path: string;
  /** Names an unfinished file elsewhere, which is removed with the folder, also after a kill. */
  alsoRemove(file: string): void;
}

/**
 * A folder in the data folder that lasts as long as a backup or a restore, locked, so that others know whether its
 * process lives.
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

/** Removes the work folders of killed processes with the unfinished files that they name, but none in use. */
export function removeLeftovers(dataFolder: string): void {
  for (const name of readdirSync(dataFolder)) {
    if (!/^(restoring-|backing-up-)/.test(name)) continue;
    const path = join(dataFolder, name);
    const lock = lockIfDead(path);
    if (lock !== null) removeFolder(path, lock);
  }
}

function removeFolder(path: string, lock: { release(): void }): void {
  const part = join(path, ELSEWHERE);
  if (existsSync(part)) rmSync(readFileSync(part, 'utf8'), { force: true });
  lock.release();
  rmSync(path, { recursive: true, force: true });
}

function lockIfDead(path: string): { release(): void } | null {
  try {
    return lockFolder(path);
  } catch (error) {
    if (isDatabaseBusy(error)) return null;
    throw error;
  }
}
