import {
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { type DataFolder, formatCommandLine } from '../../data-folder.ts';
import { BackupError } from './archive.ts';

/** A file or folder that a restore replaces. */
export interface Replacement {
  /** The unique name of the old file in the folder `aside`. */
  readonly name: string;
  readonly path: string;
  /** The staged file for `path`; null if the backup contains none. */
  readonly staged: string | null;
}

const RestoreMarker = z.object({
  /** The folder that receives the previous state. */
  aside: z.string(),
  /** The names of replaced entries that existed before the restore. */
  had: z.array(z.string()),
});
type RestoreMarker = z.infer<typeof RestoreMarker>;

/** Reads the marker of an interrupted restore; null if there is none. */
export function readRestoreMarker({ restoreMarker }: DataFolder): RestoreMarker | null {
  if (!existsSync(restoreMarker)) return null;
  try {
    return RestoreMarker.parse(JSON.parse(readFileSync(restoreMarker, 'utf8')));
  } catch {
    // The marker is ignored if version 0.1.0 wrote it, in which case its `aside` folder is left
    // unchanged, or if it was written only partly, before any file was moved.
    return null;
  }
}

/** Throws BackupError if an interrupted restore has replaced only part of the data folder. */
export function assertNoInterruptedRestore(folder: DataFolder): void {
  if (!existsSync(folder.restoreMarker)) return;
  const aside = readRestoreMarker(folder)?.aside ?? join(folder.path, 'before-restore-…');
  throw new BackupError(
    'restore-unfinished',
    `A restore of ${folder.path} was interrupted or is still running, so some of its files come from the backup and some do not. To complete the restore, run "${formatCommandLine('restore FILE', folder)}" again with the same backup. To go back instead, move everything in ${aside} to where it was, and remove ${folder.restoreMarker}.`,
  );
}

/**
 * Moves the existing files into the folder `aside` and the staged files to their final location; no
 * file is deleted. A marker file exists until `finishReplacing` is called. If the process is
 * killed, Parley does not start with the mixed state, and the next restore continues with the same
 * folder. At every moment, either the complete old database or the complete new one is in place.
 */
export function replaceFiles(
  folder: DataFolder,
  replacements: readonly Replacement[],
  aside: string,
): void {
  const marker = readRestoreMarker(folder) ?? {
    aside,
    had: replacements.filter(({ path }) => existsSync(path)).map(({ name }) => name),
  };
  writeFileSync(folder.restoreMarker, JSON.stringify(marker), { mode: 0o600, flush: true });
  for (const replacement of replacements) replaceInPlace(replacement, marker);
}

/** Makes the restored state final by removing the marker file. */
export function finishReplacing({ restoreMarker }: DataFolder): void {
  rmSync(restoreMarker);
}

function replaceInPlace({ name, path, staged }: Replacement, { aside, had }: RestoreMarker): void {
  const kept = join(aside, name);
  // If the name is not listed in `had`, the existing file was created by an interrupted restore.
  const isOld = had.includes(name) && !existsSync(kept);
  if (existsSync(path)) {
    // The old file keeps both names until the new file replaces it, so the path always exists.
    if (isOld && staged !== null && statSync(path).isFile()) preserveFile(path, kept);
    else if (isOld) movePath(path, kept);
    else if (staged === null || !statSync(path).isFile()) removeContents(path);
  }
  if (staged !== null) movePath(staged, path);
}

function preserveFile(path: string, kept: string): void {
  mkdirSync(dirname(kept), { recursive: true, mode: 0o700 });
  try {
    linkSync(path, kept);
  } catch {
    // The rename failed because the folder is on another file system, or on one without hard links.
    // The file gets its final name only after the copy is complete.
    copyFileSync(path, `${kept}.copying`);
    renameSync(`${kept}.copying`, kept);
  }
}

/**
 * Error codes when the target of a rename is on another file system, or when the folder is a mount
 * point.
 */
const CANNOT_RENAME: ReadonlySet<unknown> = new Set(['EXDEV', 'EBUSY', 'ENOTEMPTY', 'EPERM']);

function movePath(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  try {
    renameSync(from, to);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (!CANNOT_RENAME.has(code)) throw error;
    copyContents(from, to);
  }
}

/** A mount point cannot be moved, so its contents are copied and then removed. */
function copyContents(from: string, to: string): void {
  const isMounted = existsSync(to);
  const copy = isMounted ? to : `${to}.copying`;
  cpSync(from, copy, { recursive: true, preserveTimestamps: true });
  if (!isMounted) renameSync(copy, to);
  removeContents(from);
}

/** Removes a folder; a mount point is only emptied. */
function removeContents(path: string): void {
  try {
    rmSync(path, { recursive: true });
  } catch (error) {
    if (!existsSync(path) || !statSync(path).isDirectory()) throw error;
    for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true });
  }
}
