import { type BigIntStats, lstatSync } from 'node:fs';
import type { FileName } from './file-name.ts';

/** What is at a path inside the workspace, found without following a single symbolic link. */
export type Walked =
  | { readonly kind: 'file'; readonly file: FoundFile }
  | { readonly kind: 'missing' }
  | { readonly kind: 'link' }
  | { readonly kind: 'not-a-file' };

/** A regular file on disk, as it was when it was looked at. Compared as it is: texts cost more than the look. */
export class FoundFile {
  /** When the file or its metadata last changed, ms since 1970. */
  readonly changedAt: number;
  /** The file has a second name (a hard link), which may be one that is private. */
  readonly hasTwin: boolean;
  readonly #dev: bigint;
  readonly #ino: bigint;
  readonly #size: bigint;
  readonly #mtimeNs: bigint;
  readonly #ctimeNs: bigint;

  constructor(stats: BigIntStats) {
    this.changedAt = Number(stats.ctimeMs);
    this.hasTwin = stats.nlink > 1n;
    this.#dev = stats.dev;
    this.#ino = stats.ino;
    this.#size = stats.size;
    this.#mtimeNs = stats.mtimeNs;
    this.#ctimeNs = stats.ctimeNs;
  }

  get bytes(): number {
    return Number(this.#size);
  }

  /** Names the file itself, whatever its path. */
  get identity(): string {
    return identityOf({ dev: this.#dev, ino: this.#ino });
  }

  /** Changes whenever the file does. */
  get fingerprint(): string {
    return [this.identity, this.#size, this.#mtimeNs, this.#ctimeNs].join(':');
  }

  /** Whether both have the same fingerprint. */
  isSameAs(other: FoundFile): boolean {
    return (
      this.#ctimeNs === other.#ctimeNs &&
      this.#mtimeNs === other.#mtimeNs &&
      this.#size === other.#size &&
      this.#ino === other.#ino &&
      this.#dev === other.#dev
    );
  }
}

/**
 * Looks at every step of the path. Synchronous: several looks a turn, a few microseconds each, are
 * dearer as promises. Throws what the file system says besides "there is nothing".
 */
export function walkPath(folder: string, { segments }: Pick<FileName, 'segments'>): Walked {
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

/** Device and inode; the same for two looks at the same file. */
export function identityOf(stats: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${stats.dev}:${stats.ino}`;
}
