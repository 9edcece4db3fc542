import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { FileName } from './file-name.ts';

/** What is at a path inside the workspace, found without following a single symbolic link. */
export type Walked =
  | { readonly kind: 'file'; readonly file: FoundFile }
  | { readonly kind: 'missing' }
  | { readonly kind: 'link' }
  | { readonly kind: 'not-a-file' };

/** A regular file on disk. */
export interface FoundFile {
  /** Names the file itself, whatever its path: device and inode. */
  readonly identity: string;
  /** Changes whenever the file does. */
  readonly fingerprint: string;
  readonly bytes: number;
  /** When the file or its metadata last changed, ms since 1970. */
  readonly changedAt: number;
  /** The file has a second name (a hard link), which may be one that is private. */
  readonly hasTwin: boolean;
}

/**
 * Looks at every step of the path. Synchronous: several looks a turn, a few microseconds each, are
 * dearer as promises. Throws what the file system says besides "there is nothing".
 */
export function walkPath(folder: string, { segments }: Pick<FileName, 'segments'>): Walked {
  let path = folder;
  for (const [index, segment] of segments.entries()) {
    path = join(path, segment);
    const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (stats === undefined) return { kind: 'missing' };
    if (stats.isSymbolicLink()) return { kind: 'link' };
    if (index < segments.length - 1) {
      if (!stats.isDirectory()) return { kind: 'missing' };
      continue;
    }
    if (!stats.isFile()) return { kind: 'not-a-file' };
    const identity = identityOf(stats);
    return {
      kind: 'file',
      file: {
        identity,
        fingerprint: [identity, stats.size, stats.mtimeNs, stats.ctimeNs].join(':'),
        bytes: Number(stats.size),
        changedAt: Number(stats.ctimeMs),
        hasTwin: stats.nlink > 1n,
      },
    };
  }
  return { kind: 'missing' };
}

/** Device and inode; the same for two looks at the same file. */
export function identityOf(stats: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${stats.dev}:${stats.ino}`;
}
