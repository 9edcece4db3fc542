import { join } from 'node:path';
import { FileVersions, type FileVersionsOptions } from './file-versions.ts';
import { MemoryVersions } from './memory/memory-versions.ts';
import { type FileName, listMarkdownFiles, parseFileName } from './paths.ts';

/** The folder with the versions; each file has a subfolder under its own path. */
const HOME = ['.parley', 'history'];

/**
 * Allows every level of a path including the file's folder, and many more files than a workspace
 * has.
 */
const BOUNDS = { depth: 10, files: 50_000 };

/** Earlier versions of all files in a workspace. */
export class FileHistory {
  readonly #options: FileVersionsOptions;
  readonly #memory: MemoryVersions;

  constructor(options: FileVersionsOptions) {
    this.#options = options;
    this.#memory = new MemoryVersions(options);
  }

  of(file: FileName): FileVersions {
    if (file.name === 'MEMORY.md') return this.#memory;
    return new FileVersions(this.#options, file, [...HOME, ...file.segments]);
  }

  /** Lists files with a stored version, including removed ones, except MEMORY.md. */
  async files(): Promise<readonly FileName[]> {
    const kept = await listMarkdownFiles(join(this.#options.folder, ...HOME), BOUNDS);
    const names = new Set(kept.map((name) => name.replace(/\/[^/]*$/, '')));
    return [...names].flatMap((name) => parseFileName(name) ?? []);
  }

  /** Removes versions that are too old, including those of removed files. */
  async tidy(): Promise<void> {
    const files = (await this.files()).map((file) => this.of(file));
    const newest = await Promise.all(files.map(async (file) => (await file.list())[0]?.at ?? 0));
    for (const file of files) await file.tidy(Math.max(0, ...newest));
  }

  /** Rewrites the versions of the files that `isMeant` selects (G15). */
  async forget(
    shorten: (file: string, text: string) => string,
    isMeant: (file: string) => boolean = () => true,
  ) {
    let count = 0;
    const failed: { readonly name: string; readonly detail: string }[] = [];
    for (const file of await this.files()) {
      if (!isMeant(file.name)) continue;
      const done = await this.of(file).forget((text) => shorten(file.name, text));
      count += done.count;
      failed.push(...done.failed);
    }
    return { count, failed };
  }
}
