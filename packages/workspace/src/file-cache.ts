import { constants, lstatSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, type Logger, reasonOf } from '@parley/contracts';
import type { FileName } from './file-name.ts';
import { type ParsedFile, parseFile } from './parse-file.ts';

/** Why a file gives nothing, before anybody asks who reads it. */
export type FileFault =
  | { readonly reason: 'missing' }
  | { readonly reason: 'refused'; readonly detail: string }
  | { readonly reason: 'too-large'; readonly detail: string }
  | { readonly reason: 'unreadable'; readonly detail: string };

/** The files of one folder, parsed once and again whenever they change on disk (W07). */
export interface FileCache {
  get(name: FileName): Promise<ParsedFile | FileFault>;
}

interface Entry {
  readonly fingerprint: string;
  readonly file: ParsedFile;
}

/**
 * Two writes within this time can leave the same time stamp, so a file that changed less than this
 * before it was read is read again next time. Milliseconds; the coarsest common clock ticks at 10.
 */
const SETTLED_MS = 50;

interface FileCacheOptions {
  /** The real path of the workspace. */
  readonly folder: string;
  /** Larger files are not read at all. Bytes. */
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A cache over `folder`; one `lstat` per path segment when nothing has changed. */
export function createFileCache(options: FileCacheOptions): FileCache {
  const entries = new Map<string, Entry>();
  return {
    async get(name) {
      try {
        const stats = walk(options.folder, name);
        if ('reason' in stats) return stats;
        const known = entries.get(name.name);
        if (known?.fingerprint === stats.fingerprint) return known.file;
        const loaded = await load(options, name, stats);
        if ('reason' in loaded) return loaded;
        entries.delete(name.name);
        const age = options.clock() - stats.changedAt;
        if (age > SETTLED_MS) {
          entries.set(name.name, { fingerprint: stats.fingerprint, file: loaded });
        }
        return loaded;
      } catch (error) {
        return faultOf(error);
      }
    },
  };
}

interface Found {
  readonly fingerprint: string;
  readonly bytes: number;
  /** When the file or its metadata last changed, ms since 1970. */
  readonly changedAt: number;
  /** The file has a second name (a hard link), which may be one that is private. */
  readonly hasTwin: boolean;
}

/**
 * Looks at every step of the path, so that no symbolic link is followed anywhere on the way.
 * Synchronous: several looks a turn, a few microseconds each, are dearer as promises.
 */
function walk(folder: string, { segments }: FileName): Found | FileFault {
  let path = folder;
  for (const [index, segment] of segments.entries()) {
    path = join(path, segment);
    const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (stats === undefined) return { reason: 'missing' };
    if (stats.isSymbolicLink()) return refused('a symbolic link is not followed');
    if (index < segments.length - 1) {
      if (!stats.isDirectory()) return { reason: 'missing' };
      continue;
    }
    if (!stats.isFile()) return refused('not a regular file');
    return {
      fingerprint: [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(':'),
      bytes: Number(stats.size),
      changedAt: Number(stats.ctimeMs),
      hasTwin: stats.nlink > 1n,
    };
  }
  return { reason: 'missing' };
}

async function load(
  { folder, maxBytes, log }: FileCacheOptions,
  name: FileName,
  found: Found,
): Promise<ParsedFile | FileFault> {
  if (found.bytes > maxBytes) return tooLarge(found.bytes, maxBytes);
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  await using handle = await open(join(folder, ...name.segments), flags);
  const bytes = await handle.readFile();
  if (bytes.length > maxBytes) return tooLarge(bytes.length, maxBytes);
  if (bytes.includes(0)) return { reason: 'unreadable', detail: 'not a text file' };
  const file = parseFile(name.name, new TextDecoder().decode(bytes), found.hasTwin);
  if (file.problem !== null) {
    log.warn(
      { file: name.name, problem: file.problem },
      `${name.name} is shown to the owner only, until its problem is mended`,
    );
  }
  return file;
}

function refused(detail: string): FileFault {
  return { reason: 'refused', detail };
}

function tooLarge(bytes: number, maxBytes: number): FileFault {
  return { reason: 'too-large', detail: `${bytes} bytes, at most ${maxBytes} are read` };
}

function faultOf(error: unknown): FileFault {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') return { reason: 'missing' };
  if (code === 'ELOOP') return refused('a symbolic link is not followed');
  return { reason: 'unreadable', detail: reasonOf(error) };
}
