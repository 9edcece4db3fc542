import type { Clock, Logger } from '@parley/core';
import { decodeFileText } from './file-text.ts';
import { MAX_HEAD_BYTES, mayHaveFrontMatter, type ParsedFile, parseFile } from './front-matter.ts';
import {
  describeDiskError,
  type FileName,
  type FoundFile,
  getFileIdentity,
  MAX_BYTES,
  openWorkspaceFile,
  SETTLED_MS,
  walkPath,
} from './paths.ts';

/** Why a file's content is not available to any reader. */
export type FileFault =
  | { readonly reason: 'missing' }
  | { readonly reason: 'refused'; readonly detail: string }
  | { readonly reason: 'too-large'; readonly detail: string }
  | { readonly reason: 'unreadable'; readonly detail: string };

interface CacheEntry {
  readonly found: FoundFile;
  readonly file: ParsedFile;
}

/**
 * The total size of all cached files, in characters: about 8 MB, the size of several years' notes.
 * A file that would take up half of the cache is not cached.
 */
const MAX_CHARACTERS = 4_000_000;
const MAX_FILES = 2_000;

interface FileCacheOptions {
  /** The real path of the workspace. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
}

const FAULTS = {
  missing: { reason: 'missing' },
  link: { reason: 'refused', detail: 'a symbolic link is not followed' },
  'not-a-file': { reason: 'refused', detail: 'not a regular file' },
  // A parent folder may have become a link after it was checked, in which case the path leads to
  // another file.
  replaced: { reason: 'unreadable', detail: 'it was replaced while it was read; read it again' },
} as const;

/**
 * The files in one folder, parsed once and again whenever they change on disk (W07). An unchanged
 * file costs one `lstat` per segment of its path.
 */
export class FileCache {
  readonly #options: FileCacheOptions;
  /** Cached files, least recently used first. */
  readonly #entries = new Map<string, CacheEntry>();
  #characters = 0;

  constructor(options: FileCacheOptions) {
    this.#options = options;
  }

  /**
   * Returns the same object while the file is unchanged, synchronously if it is cached, as in
   * nearly all cases.
   */
  get(name: FileName): ParsedFile | FileFault | Promise<ParsedFile | FileFault> {
    try {
      const walked = walkPath(this.#options.folder, name);
      if (walked.kind !== 'file') return FAULTS[walked.kind];
      const known = this.#entries.get(name.name);
      if (known?.found.isSameAs(walked.file) !== true) return this.#read(name, walked.file);
      this.#entries.delete(name.name);
      this.#entries.set(name.name, known);
      return known.file;
    } catch (error) {
      return toFileFault(error);
    }
  }

  /**
   * Reads at most `limit` bytes of a file, without caching them; the caller decides who may have
   * them.
   */
  async bytes(name: FileName, limit: number): Promise<{ readonly bytes: Uint8Array } | FileFault> {
    try {
      const { folder } = this.#options;
      const walked = walkPath(folder, name);
      if (walked.kind !== 'file') return FAULTS[walked.kind];
      if (walked.file.bytes > limit) return createTooLargeFault(walked.file.bytes, limit);
      await using handle = await openWorkspaceFile(folder, name.segments);
      const opened = getFileIdentity(await handle.stat({ bigint: true }));
      if (opened !== walked.file.identity) return FAULTS.replaced;
      const bytes = await handle.readFile();
      return bytes.length > limit ? createTooLargeFault(bytes.length, limit) : { bytes };
    } catch (error) {
      return toFileFault(error);
    }
  }

  /**
   * Whether a file may begin with front matter, judged by its first bytes, so that most
   * non-Markdown files need not be read entirely. Returns true if this is uncertain.
   */
  async mayHaveFrontMatter({ segments }: FileName): Promise<boolean> {
    try {
      await using handle = await openWorkspaceFile(this.#options.folder, segments);
      const head = Buffer.alloc(MAX_HEAD_BYTES);
      const { bytesRead } = await handle.read(head, 0, head.length, 0);
      return mayHaveFrontMatter(head.subarray(0, bytesRead));
    } catch {
      return true;
    }
  }

  async #read(name: FileName, found: FoundFile): Promise<ParsedFile | FileFault> {
    try {
      const file = await loadFile(this.#options, name, found);
      if ('reason' in file) return file;
      this.#remove(name.name);
      if (this.#options.clock() - found.changedAt > SETTLED_MS) this.#add({ found, file });
      return file;
    } catch (error) {
      return toFileFault(error);
    }
  }

  #add(entry: CacheEntry): void {
    const { name, text } = entry.file;
    if (text.length > MAX_CHARACTERS / 2) return;
    this.#entries.set(name, entry);
    this.#characters += text.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#characters <= MAX_CHARACTERS && this.#entries.size <= MAX_FILES) break;
      this.#remove(oldest);
    }
  }

  #remove(name: string): void {
    this.#characters -= this.#entries.get(name)?.file.text.length ?? 0;
    this.#entries.delete(name);
  }
}

async function loadFile(
  { folder, log }: FileCacheOptions,
  name: FileName,
  found: FoundFile,
): Promise<ParsedFile | FileFault> {
  if (found.bytes > MAX_BYTES) return createTooLargeFault(found.bytes);
  await using handle = await openWorkspaceFile(folder, name.segments);
  const opened = getFileIdentity(await handle.stat({ bigint: true }));
  if (opened !== found.identity) return FAULTS.replaced;
  const bytes = await handle.readFile();
  if (bytes.length > MAX_BYTES) return createTooLargeFault(bytes.length);
  const read = decodeFileText(bytes);
  if (read.kind === 'refused') {
    log.warn({ file: name.name, why: read.detail }, `${name.name} cannot be read as text`);
    return { reason: 'unreadable', detail: read.detail };
  }
  const { warning } = read;
  const file: ParsedFile = { ...parseFile(name.name, read.text, found.hasTwin), warning };
  if (warning !== null) log.warn({ file: name.name }, `${name.name}: ${warning}`);
  if (file.problem !== null) {
    log.warn(
      { file: name.name, problem: file.problem },
      `only the owner can see ${name.name} until its problem is fixed`,
    );
  }
  return file;
}

function createTooLargeFault(bytes: number, limit: number = MAX_BYTES): FileFault {
  return { reason: 'too-large', detail: `it has ${bytes} bytes, but at most ${limit} are read` };
}

function toFileFault(error: unknown): FileFault {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') return { reason: 'missing' };
  if (code === 'ELOOP') return FAULTS.link;
  return { reason: 'unreadable', detail: describeDiskError(error) };
}
