import { type BigIntStats, constants, type Dirent, lstatSync } from 'node:fs';
import { type FileHandle, lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BoundedMap, type Clock, ParleyError, reasonOf, systemTime } from '@parley/core';
import { foldName, isMarkdown } from './folded-names.ts';

/**
 * A validated path inside the workspace: its segments are plain names and cannot leave the folder.
 */
export interface FileName {
  readonly name: string;
  readonly segments: readonly string[];
}

/** The maximum length of a path, in characters, and its maximum depth. */
const MAX_LENGTH = 240;
const MAX_SEGMENTS = 8;

/**
 * Parses a path as tools and layers write it (`memory/2026-11-21.md`); null for a refused path.
 * Refuses paths that could leave the folder, be hidden (`.git`), or refer to another file on some
 * systems (`MEMORY.md.`, `MEMORY.md::$DATA`).
 */
export function parseFileName(name: string): FileName | null {
  if (name.length === 0 || name.length > MAX_LENGTH) return null;
  const segments = name.split('/');
  if (segments.length > MAX_SEGMENTS || !segments.every(isPlainName)) return null;
  return { name, segments };
}

function isPlainName(segment: string): boolean {
  if (segment === '' || segment.startsWith('.') || /[. ]$/.test(segment)) return false;
  return !/[\\:\p{Cc}\p{Cf}]/u.test(segment);
}

/** Files larger than this, in bytes, are not read. */
export const MAX_BYTES = 1_000_000;
/**
 * The time in ms within which two changes can leave the same timestamp. A file that had changed
 * less than this before it was read is read again next time. The coarsest common clock ticks every
 * 10 ms.
 */
export const SETTLED_MS = 50;

/** The entry at a path inside the workspace, found without following any symbolic link. */
export type PathEntry =
  | { readonly kind: 'file'; readonly file: FoundFile }
  | { readonly kind: 'missing' }
  | { readonly kind: 'link' }
  | { readonly kind: 'not-a-file' };

/**
 * A regular file as reported by `lstat`, compared by numbers, because strings cost more than the
 * call.
 */
export class FoundFile {
  readonly #stats: BigIntStats;

  constructor(stats: BigIntStats) {
    this.#stats = stats;
  }

  get bytes(): number {
    return Number(this.#stats.size);
  }

  /** When the file or its metadata last changed, in ms since the Unix epoch. */
  get changedAt(): number {
    return Number(this.#stats.ctimeMs);
  }

  /** Whether the file has a second name (a hard link), which may be that of a private file. */
  get hasTwin(): boolean {
    return this.#stats.nlink > 1n;
  }

  /** Whether the file's owner may read it. */
  get isReadable(): boolean {
    return (this.#stats.mode & 0o400n) !== 0n;
  }

  get identity(): string {
    return getFileIdentity(this.#stats);
  }

  /** A fingerprint that changes whenever the file does. */
  get fingerprint(): string {
    const { size, mtimeNs, ctimeNs } = this.#stats;
    return [this.identity, size, mtimeNs, ctimeNs].join(':');
  }

  /** Whether both files have the same fingerprint. */
  isSameAs(other: FoundFile): boolean {
    const { dev, ino, size, mtimeNs, ctimeNs } = other.#stats;
    return (
      this.#stats.ctimeNs === ctimeNs &&
      this.#stats.mtimeNs === mtimeNs &&
      this.#stats.size === size &&
      this.#stats.ino === ino &&
      this.#stats.dev === dev
    );
  }
}

/**
 * Finds the entry at a path, checking every segment for links. The function is synchronous, because
 * a call takes a few microseconds and a promise takes more. Throws file system errors, except for a
 * missing entry.
 */
export function walkPath(folder: string, { segments }: Pick<FileName, 'segments'>): PathEntry {
  let path = folder;
  for (const [index, segment] of segments.entries()) {
    path = `${path}/${segment}`;
    const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (stats === undefined) return { kind: 'missing' };
    if (stats.isSymbolicLink()) return { kind: 'link' };
    if (index < segments.length - 1) {
      if (!stats.isDirectory()) return { kind: 'missing' };
      continue;
    }
    if (!stats.isFile()) return { kind: 'not-a-file' };
    return { kind: 'file', file: new FoundFile(stats) };
  }
  return { kind: 'missing' };
}

/** Opens a file for reading, refusing a link in its place and without blocking on a pipe. */
export function openWorkspaceFile(
  folder: string,
  segments: readonly string[],
): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  return open(join(folder, ...segments), flags);
}

/** Returns device and inode, which identify a file under any path. */
export function getFileIdentity(stats: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${stats.dev}:${stats.ino}`;
}

/** The default limits for a listing: the folder depth, and the number of files. */
const USUAL = { depth: 4, files: 2_000 };

/**
 * Lists the paths of the Markdown files below `folder`, sorted, without hidden entries and symbolic
 * links.
 */
export function listMarkdownFiles(
  folder: string,
  bounds = USUAL,
  entriesOf: (folder: string) => Promise<readonly Dirent[]> = readEntries,
): Promise<readonly string[]> {
  return listFiles(folder, isMarkdown, bounds, entriesOf);
}

/**
 * Lists the newest `most` non-Markdown files with their size in bytes, and counts them (up to 500).
 */
export async function listOtherFiles(
  folder: string,
  most: number,
  closed: readonly string[],
): Promise<{
  readonly files: readonly { readonly name: string; readonly size: number }[];
  readonly total: number;
}> {
  const isOther = (name: string) =>
    !isMarkdown(name) && !closed.some((path) => name.startsWith(path));
  const names = await listFiles(folder, isOther, { depth: 4, files: 500 });
  const found = await Promise.all(
    names.map(async (name) => {
      const stats = await lstat(join(folder, name)).catch(() => null);
      return stats === null ? [] : [{ name, size: stats.size, at: stats.mtimeMs }];
    }),
  );
  const newest = found.flat().toSorted((one, other) => other.at - one.at);
  const files = newest.slice(0, most).map(({ name, size }) => ({ name, size }));
  return { files, total: newest.length };
}

/** Lists the paths of the wanted files below `folder`, sorted, without installed packages. */
export async function listFiles(
  folder: string,
  isWanted: (name: string) => boolean,
  bounds: typeof USUAL,
  entriesOf: (folder: string) => Promise<readonly Dirent[]> = readEntries,
): Promise<readonly string[]> {
  const found: string[] = [];
  let level: readonly string[] = [''];
  for (let depth = 0; depth < bounds.depth && level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const parent of level) {
      for (const entry of await entriesOf(join(folder, parent))) {
        const name = parent === '' ? entry.name : `${parent}/${entry.name}`;
        if (parseFileName(name) === null) continue;
        if (entry.isDirectory() && foldName(entry.name) !== 'node_modules') next.push(name);
        if (entry.isFile() && isWanted(name)) found.push(name);
        if (found.length === bounds.files) return found.sort();
      }
    }
    level = next;
  }
  return found.sort();
}

/** A folder that has just been removed, or may not be read, counts as empty. */
async function readEntries(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** The number of folders whose entries are cached. */
const FOLDERS = 500;
/**
 * Each folder is reread after this time, in ms, because some file systems do not keep accurate
 * folder times.
 */
const TRUSTED_MS = 2_000;

interface CachedFolder {
  readonly stamp: string;
  readonly readAt: number;
  readonly entries: readonly Dirent[];
}

/**
 * Creates a `listMarkdownFiles` that rereads a folder only when its timestamps show that its entries
 * have changed.
 */
export function createMarkdownLister(
  clock: Clock = systemTime.clock,
): (folder: string) => Promise<readonly string[]> {
  const known = new BoundedMap<string, CachedFolder>(FOLDERS);
  const entriesOf = async (folder: string): Promise<readonly Dirent[]> => {
    const stats = readStats(folder);
    if (stats === undefined || !stats.isDirectory()) return [];
    const { dev, ino, mtimeNs, ctimeNs } = stats;
    const stamp = `${dev}:${ino}:${mtimeNs}:${ctimeNs}`;
    const readAt = clock();
    const before = known.get(folder);
    if (before?.stamp === stamp && readAt - before.readAt < TRUSTED_MS) return before.entries;
    const entries = await readEntries(folder);
    if (readAt - Number(stats.ctimeMs) > SETTLED_MS) known.set(folder, { stamp, readAt, entries });
    return entries;
  };
  return (folder) => listMarkdownFiles(folder, USUAL, entriesOf);
}

function readStats(folder: string): BigIntStats | undefined {
  try {
    return lstatSync(folder, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined; // A folder whose metadata is inaccessible cannot be listed either.
  }
}

/**
 * `workspace-folder`: the folder cannot be created or used. `workspace-templates`: the templates
 * cannot be read.
 */
export type WorkspaceErrorCode =
  | 'workspace-folder'
  | 'workspace-templates'
  | 'workspace-file'
  | 'soul-scenarios';

/**
 * Thrown while a workspace is opened or edited; views never throw but return the reason for missing
 * content.
 */
export class WorkspaceError extends ParleyError {
  constructor(code: WorkspaceErrorCode, message: string, cause?: unknown) {
    super({ code, message, retryable: false, cause });
  }
}

/**
 * Describes why a disk operation failed, without the local path in the system's message, because
 * guests read the description.
 */
export function describeDiskError(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : reasonOf(error);
}
