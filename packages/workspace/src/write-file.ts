import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { NewId } from '@parley/core';
import { decodeFileText } from './file-text.ts';
import {
  describeDiskError,
  type FileName,
  getFileIdentity,
  openWorkspaceFile,
  walkPath,
} from './paths.ts';
import type { LockHold } from './workspace-lock.ts';

/** Why the file on disk was not changed; `detail` is for people. */
export interface DiskRefusal {
  readonly kind: 'refused';
  readonly reason: 'link' | 'twin' | 'not-a-file' | 'not-text' | 'disk' | 'overtaken';
  readonly detail: string;
}

export type DiskResult = { readonly kind: 'written'; readonly created: boolean } | DiskRefusal;

/**
 * Reads a file before it is replaced, in any encoding; `text` is null if the file does not exist. A
 * file that is not text is refused, because it could not be kept as an earlier version.
 */
export async function readFileForWrite(
  folder: string,
  name: FileName,
): Promise<{ readonly kind: 'found'; readonly text: string | null } | DiskRefusal> {
  try {
    const blocked = findReplaceRefusal(folder, name);
    if (blocked !== null) return blocked;
    if (walkPath(folder, name).kind === 'missing') return { kind: 'found', text: null };
    await using handle = await openWorkspaceFile(folder, name.segments);
    const read = decodeFileText(await handle.readFile());
    if (read.kind === 'text') return { kind: 'found', text: read.text };
    return refuseOnDisk('not-text', `${name.name} was left unchanged: ${read.detail}`);
  } catch (error) {
    return refuseOnDisk('disk', describeDiskError(error));
  }
}

/**
 * Opens the file and closes it, which makes changes from other machines visible on a network file
 * system; never throws. Never throws.
 */
export async function refreshCache(folder: string, name: FileName): Promise<void> {
  const handle = await openWorkspaceFile(folder, name.segments).catch(() => null);
  await handle?.close();
}

/** The options for writing a file. */
export interface WriteFileOptions {
  /** Creates the name of the temporary file beside the target. */
  readonly newId: NewId;
  /** The lock, held since the content to be replaced was read. */
  readonly hold: LockHold;
  /**
   * Whether to replace a file that has a second name (a hard link); the old file remains under its
   * second name.
   */
  readonly replacesTwin?: boolean;
}

/**
 * Writes `bytes` to `name` atomically, for its owner only (0600), and never through a link. Parent
 * folders are created.
 */
export async function writeFileInside(
  folder: string,
  name: FileName,
  bytes: Uint8Array,
  { newId, hold, replacesTwin = false }: WriteFileOptions,
): Promise<DiskResult> {
  try {
    const parents = name.segments.slice(0, -1);
    const blocked =
      (await createFolders(folder, parents)) ?? findReplaceRefusal(folder, name, replacesTwin);
    if (blocked !== null) return blocked;
    const created = walkPath(folder, name).kind === 'missing';
    // The temporary file is hidden, so that neither a listing nor a read can find it.
    const temporary = { segments: [...parents, `.${newId('w')}.tmp`] };
    return (
      (await replaceFile({ folder, hold }, temporary, name, bytes)) ?? { kind: 'written', created }
    );
  } catch (error) {
    return refuseOnDisk('disk', describeDiskError(error));
  }
}

/**
 * Creates each missing folder (0700); returns null on success, and an error if a link or a file is
 * in its place.
 */
export async function createFolders(
  folder: string,
  parents: readonly string[],
): Promise<DiskRefusal | null> {
  for (const [index] of parents.entries()) {
    const segments = parents.slice(0, index + 1);
    const found = walkPath(folder, { segments });
    if (found.kind === 'link')
      return refuseOnDisk('link', `${segments.join('/')} is a symbolic link`);
    if (found.kind === 'file')
      return refuseOnDisk('not-a-file', `${segments.join('/')} is not a folder`);
    // "not-a-file" means the folder itself, or that the next folder cannot be created in an entry.
    if (found.kind === 'missing') await mkdir(join(folder, ...segments), { mode: 0o700 });
  }
  return null;
}

/** Returns why the entry at this path must not be replaced; null if it may be. */
function findReplaceRefusal(
  folder: string,
  name: FileName,
  isTwinFine = false,
): DiskRefusal | null {
  const found = walkPath(folder, name);
  if (found.kind === 'link') return refuseOnDisk('link', `${name.name} is a symbolic link`);
  if (found.kind === 'not-a-file')
    return refuseOnDisk('not-a-file', `${name.name} is not a regular file`);
  if (found.kind === 'file' && found.file.hasTwin && !isTwinFine) {
    return refuseOnDisk('twin', `${name.name} has a second name (a hard link)`);
  }
  return null;
}

/** Writes a temporary file beside the target and renames it; returns null on success. */
async function replaceFile(
  { folder, hold }: { readonly folder: string; readonly hold: LockHold },
  temporary: Pick<FileName, 'segments'>,
  name: FileName,
  bytes: Uint8Array,
): Promise<DiskRefusal | null> {
  const path = join(folder, ...temporary.segments);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(path, flags, 0o600);
  let done = false;
  try {
    await writeAndSync(handle, bytes);
    const stats = await handle.stat({ bigint: true });
    const found = walkPath(folder, temporary);
    // A parent folder became a link in the meantime, so the bytes were written to another folder.
    if (found.kind !== 'file' || found.file.identity !== getFileIdentity(stats)) {
      return refuseOnDisk('link', `the folder of ${name.name} was replaced`);
    }
    if (!hold.isMine())
      return refuseOnDisk('overtaken', 'another process has started to write in the meantime');
    await rename(path, join(folder, ...name.segments));
    done = true;
    return null;
  } finally {
    await handle.close();
    if (!done) await rm(path, { force: true });
  }
}

async function writeAndSync(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  // The mode passed to open is narrowed by the umask, so it is set again.
  await handle.chmod(0o600);
  await handle.writeFile(bytes);
  await handle.sync();
}

export function refuseOnDisk<Reason extends string>(reason: Reason, detail: string) {
  return { kind: 'refused', reason, detail } as const;
}
