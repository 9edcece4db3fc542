import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeEmptyFolder } from './command-notes.ts';
import { WorkspaceError, walkPath } from './paths.ts';
import type { FilePattern } from './prompt-files.ts';

/** Paths closed to commands regardless of the layers; a trailing slash marks a folder. */
export const CLOSED_TO_COMMANDS: readonly FilePattern[] = [
  ...['SOUL.md', '.parley/', 'skills/', 'groups/'],
];

/**
 * Lists the paths that commands must not write or create: Parley's own, and the files that become
 * prompt text, as the layers declare them. Paths inside a listed folder are omitted; `''` is the
 * workspace.
 */
export function listPathsClosedToCommands(
  promptFiles: readonly FilePattern[],
): readonly FilePattern[] {
  if (promptFiles.includes('/')) return ['', ...CLOSED_TO_COMMANDS];
  const all = [...new Set([...CLOSED_TO_COMMANDS, ...promptFiles])].filter(isInsideWorkspace);
  const folders = all.filter((name) => name.endsWith('/'));
  return all.filter((name) => !folders.some((one) => one !== name && name.startsWith(one)));
}

/**
 * Other patterns do not match any file, because views never read a path that could leave the
 * workspace.
 */
function isInsideWorkspace(pattern: FilePattern): boolean {
  const segments = pattern.replace(/\/$/, '').split('/');
  return segments.every((segment) => segment !== '' && segment !== '.' && segment !== '..');
}

/**
 * Plans which closed paths exist and can be protected now, and which must be created first: parent
 * folders first, each folder with a trailing slash. Throws for links, because their target could be
 * exchanged.
 */
export function planClosedPaths(
  folder: string,
  closed: readonly FilePattern[],
): { readonly paths: readonly string[]; readonly missing: string[] } {
  const paths = new Set<string>();
  const missing = new Set<string>();
  for (const pattern of closed) {
    const segments = pattern.split('/').filter((segment) => segment !== '');
    let end = segments.length;
    for (let length = 1; length <= end; length += 1) {
      const name = segments.slice(0, length).join('/');
      const { kind } = walkPath(folder, { segments: segments.slice(0, length) });
      if (kind === 'link') throw createSymbolicLinkError(name);
      // A file occupies the path of a required folder, so nothing can be created below it.
      if (kind === 'file') end = length;
      const isFolder = length < segments.length || pattern.endsWith('/');
      if (kind === 'missing') missing.add(`${name}${isFolder ? '/' : ''}`);
    }
    paths.add(segments.slice(0, end).join('/'));
  }
  return { paths: [...paths], missing: [...missing] };
}

function createSymbolicLinkError(name: string): WorkspaceError {
  const message = `Commands are not run, because ${name} in the workspace is a symbolic link and cannot be protected. Put a plain file or folder in its place.`;
  return new WorkspaceError('workspace-file', message);
}

/** Creates these paths as empty files and folders. Throws disk errors; existing paths are kept. */
export function createPaths(folder: string, names: readonly string[]): void {
  for (const name of names) {
    const path = join(folder, name);
    if (name.endsWith('/')) mkdirSync(path, { recursive: true, mode: 0o700 });
    else if (walkPath(folder, { segments: name.split('/') }).kind === 'missing') {
      writeFileSync(path, '', { flag: 'wx', mode: 0o600 });
    }
  }
}

/**
 * Removes the paths that are still empty; any others may have been written by something other than
 * a command.
 */
export function removePaths(folder: string, names: readonly string[]): void {
  for (const name of names.toReversed()) {
    const path = join(folder, name);
    if (name.endsWith('/')) {
      removeEmptyFolder(path);
      continue;
    }
    const found = walkPath(folder, { segments: name.split('/') });
    if (found.kind === 'file' && found.file.bytes === 0) rmSync(path, { force: true });
  }
}
