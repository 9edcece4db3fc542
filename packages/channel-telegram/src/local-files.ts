import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { reasonOf } from '@parley/core';

/**
 * The location of a file on a self-hosted Bot API server: below its directory, in the bot's folder.
 */
export interface LocalFile {
  readonly folder: string;
  readonly steps: readonly string[];
}

/**
 * Parses the path that getFile returns on a server in local mode:
 * `<directory>/<token>/documents/file_0`. Returns undefined when the path is not below the bot's
 * folder. The directory may have a different name on this machine.
 */
export function parseLocalFile(token: string, path: string): LocalFile | undefined {
  // On Windows a file name cannot contain a colon.
  const folders = [token, token.replace(':', '~')];
  const all = path.split(/[/\\]/);
  const at = all.findIndex((step) => folders.includes(step));
  const [folder, ...steps] = all.slice(at);
  if (at < 0 || folder === undefined || steps.length === 0) return undefined;
  const isStrange = steps.some((step) => ['', '.', '..'].includes(step) || step.includes('\0'));
  return isStrange ? undefined : { folder, steps };
}

/**
 * Opens a file of a server in local mode for reading. Rejects with a human-readable reason when it
 * is missing or not a file, or when a symbolic link below the directory leads elsewhere.
 */
export async function openLocalFile(directory: string, place: LocalFile): Promise<FileHandle> {
  const root = await realpath(directory).catch(throwNotFound);
  const path = join(root, place.folder, ...place.steps);
  const real = await realpath(path).catch(throwNotFound);
  if (real !== path) throw new Error('it is behind a symbolic link');
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(throwNotFound);
  const isFile = await handle.stat().then((stat) => stat.isFile());
  if (isFile) return handle;
  await handle.close();
  throw new Error('it is not a file');
}

/** The error leaves out the path, which contains the token. */
function throwNotFound(error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : reasonOf(error);
  throw new Error(`it was not found in localFiles (${code})`);
}
