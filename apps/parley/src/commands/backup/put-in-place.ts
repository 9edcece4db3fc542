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
import { commandLine, type DataFolder } from '../../data-folder.ts';
import { BackupError } from './archive.ts';

/** A file or folder that a restore replaces. */
export interface Replacement {
  /** The name of the old one in the folder aside; unique. */
  readonly name: string;
  readonly path: string;
  /** The staged file for `path`; null: the backup has none for that place. */
  readonly staged: string | null;
}

const Marker = z.object({
  /** The folder that the state from before is moved to. */
  aside: z.string(),
  /** The names of what was there before. */
  had: z.array(z.string()),
});
type Marker = z.infer<typeof Marker>;

/** The replacing that was interrupted; null where none was. */
export function interruptedRestore({ restoreMarker }: DataFolder): Marker | null {
  if (!existsSync(restoreMarker)) return null;
  try {
    return Marker.parse(JSON.parse(readFileSync(restoreMarker, 'utf8')));
  } catch {
    // One of 0.1.0, whose folder aside stays as it is, or half of one, before anything was moved.
    return null;
  }
}

/** Throws BackupError while files of the data folder are partly those of a backup. */
export function refuseInterruptedRestore(folder: DataFolder): void {
  if (!existsSync(folder.restoreMarker)) return;
  const aside = interruptedRestore(folder)?.aside ?? join(folder.path, 'before-restore-…');
  throw new BackupError(
    'restore-unfinished',
    `A restore on ${folder.path} was interrupted, or is still running, so its files are partly those of the backup. Run "${commandLine('restore FILE', folder)}" again with the same backup: that completes it. To go back instead, move everything in ${aside} to where it was, and remove ${folder.restoreMarker}.`,
  );
}

/**
 * Moves what is there into the folder `aside`, and what was staged to its place; nothing is deleted. A marker file says
 * so until `finishReplacing`: after a kill no Parley starts on the mixture, and the next restore goes on with the same
 * folder. At every moment the database is the old or the new one, whole.
 */
export function replaceAll(
  folder: DataFolder,
  replacements: readonly Replacement[],
  aside: string,
): void {
  const marker = interruptedRestore(folder) ?? {
    aside,
    had: replacements.filter(({ path }) => existsSync(path)).map(({ name }) => name),
  };
  writeFileSync(folder.restoreMarker, JSON.stringify(marker), { mode: 0o600, flush: true });
  for (const replacement of replacements) replaceInPlace(replacement, marker);
}

/** From here on the restored state is the state. */
export function finishReplacing({ restoreMarker }: DataFolder): void {
  rmSync(restoreMarker);
}

function replaceInPlace({ name, path, staged }: Replacement, { aside, had }: Marker): void {
  const kept = join(aside, name);
  // Otherwise it was put there by a restore that was interrupted.
  const isOld = had.includes(name) && !existsSync(kept);
  if (existsSync(path)) {
    // A file is never missing: until the new one takes its name, the old one has both names.
    if (isOld && staged !== null && statSync(path).isFile()) keepFile(path, kept);
    else if (isOld) move(path, kept);
    else if (staged === null || !statSync(path).isFile()) removeContents(path);
  }
  if (staged !== null) move(staged, path);
}

function keepFile(path: string, kept: string): void {
  mkdirSync(dirname(kept), { recursive: true, mode: 0o700 });
  try {
    linkSync(path, kept);
  } catch {
    // Another file system, or one without links. Half a copy does not count as there.
    copyFileSync(path, `${kept}.copying`);
    renameSync(`${kept}.copying`, kept);
  }
}

/** Another file system, or a folder that something is mounted on. */
const CANNOT_RENAME: ReadonlySet<unknown> = new Set(['EXDEV', 'EBUSY', 'ENOTEMPTY', 'EPERM']);

function move(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  try {
    renameSync(from, to);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (!CANNOT_RENAME.has(code)) throw error;
    copyOver(from, to);
  }
}

/** A mounted folder cannot be moved, only emptied. What is half copied does not count as there. */
function copyOver(from: string, to: string): void {
  const isMounted = existsSync(to);
  const copy = isMounted ? to : `${to}.copying`;
  cpSync(from, copy, { recursive: true, preserveTimestamps: true });
  if (!isMounted) renameSync(copy, to);
  removeContents(from);
}

/** Only the content of a folder that something is mounted on. */
function removeContents(path: string): void {
  try {
    rmSync(path, { recursive: true });
  } catch (error) {
    if (!existsSync(path) || !statSync(path).isDirectory()) throw error;
    for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true });
  }
}
