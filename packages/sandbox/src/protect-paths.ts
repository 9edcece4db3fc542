import { lstat, mkdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SandboxError } from './sandbox-error.ts';

/** Paths that are there for the time of a command, so that they can be closed. */
export interface ProtectedPaths {
  readonly paths: readonly string[];
  /** Takes away what was made only for this. */
  release(): Promise<void>;
}

/**
 * Sees to it that each of these names in the workspace can be covered with a read-only mount (W06). One
 * that is missing is made empty, because a command could make it otherwise; a name with a slash at its
 * end is a folder. Throws SandboxError for links, whose target would be shown.
 */
export async function protectPaths(
  workspace: string,
  names: readonly string[],
): Promise<ProtectedPaths> {
  const made: (() => Promise<void>)[] = [];
  const paths: string[] = [];
  const release = async (): Promise<void> => {
    for (const remove of made.toReversed()) await remove();
  };
  try {
    for (const name of names) {
      const path = join(workspace, name.replace(/\/$/, ''));
      const remove = await makeCoverable(path, name.endsWith('/'));
      if (remove !== null) made.push(remove);
      paths.push(path);
    }
  } catch (error) {
    await release();
    throw error;
  }
  return { paths, release };
}

async function makeCoverable(
  path: string,
  isFolder: boolean,
): Promise<(() => Promise<void>) | null> {
  const found = await lstat(path).catch(() => null);
  if (found === null) {
    if (isFolder) await mkdir(path);
    else await writeFile(path, '', { flag: 'wx' });
    return () => takeAway(path, isFolder);
  }
  if (found.isFile() || found.isDirectory()) return null;
  const message = `Commands are not run, because ${path} is neither a file nor a folder and cannot be protected. Put a plain file in its place.`;
  throw new SandboxError('sandbox-folder', message);
}

/** Only while it is empty: somebody may have written it meanwhile from outside. */
async function takeAway(path: string, isFolder: boolean): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found === null) return;
  if (isFolder) await rmdir(path).catch(() => {});
  else if (found.isFile() && found.size === 0) await rm(path, { force: true });
}
