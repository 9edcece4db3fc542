import { isGroupFile, isMemoryFile } from './audience.ts';
import type { FileCache, FileFault } from './file-cache.ts';
import type { FileHistory } from './file-history.ts';
import { hashFileText } from './file-versions.ts';
import { foldName, isMarkdown } from './folded-names.ts';
import type { ParsedFile } from './front-matter.ts';
import {
  type FileName,
  listMarkdownFiles,
  MAX_BYTES,
  parseFileName,
  WorkspaceError,
  walkPath,
} from './paths.ts';
import { SOUL } from './soul.ts';
import { estimateTokens } from './text.ts';
import type { WorkspaceView } from './workspace-view.ts';

/** A Markdown file as shown to the owner of the workspace. */
export interface EditorFile {
  readonly name: string;
  /** Who can read the file's text in a turn, as decided by the views. */
  readonly readers: 'owner' | 'everyone' | 'conversation';
  /** Why the file is restricted to the owner, or not read at all. */
  readonly problem: string | null;
  /** The estimated tokens of the file without its front matter; 0 for an empty form. */
  readonly tokens: number;
  /** When the file last changed, in ms. */
  readonly changedAt: number;
}

/**
 * The result of saving a file. `outdated`: the file has changed since `base`, so nothing was
 * written.
 */
export type EditorChange = { readonly kind: 'written' | 'outdated' };

interface FileEditorOptions {
  readonly folder: string;
  readonly files: FileCache;
  readonly history: FileHistory;
  /** A guest's view, which stands for all views except an owner's and a conversation's own. */
  readonly guest: WorkspaceView;
  /** Whether memory is off, so that turns neither read nor write it. */
  readonly forgetful: boolean;
  /** Whether SOUL.md changes only through proposals (W06). */
  readonly governed: boolean;
}

/**
 * A workspace's files as their owner edits them outside of turns: in full, with front matter, and
 * with earlier versions. Paths that the views refuse are refused here as well. Throws
 * `WorkspaceError` with advice on what to do.
 */
export class FileEditor {
  readonly #options: FileEditorOptions;

  constructor(options: FileEditorOptions) {
    this.#options = options;
  }

  async list(): Promise<readonly EditorFile[]> {
    const names = await listMarkdownFiles(this.#options.folder);
    const files = await Promise.all(names.map((name) => this.#describe(this.#path(name))));
    return files.filter((file) => file !== null);
  }

  /**
   * Reads the entire file with its hash, on which a change is based; null if the file does not
   * exist.
   */
  async read(name: string) {
    const path = this.#path(name);
    const facts = await this.#describe(path);
    const text = await this.#trying(path, (versions) => versions.content());
    return facts === null || text === null ? null : { ...facts, text, print: hashFileText(text) };
  }

  /**
   * Writes a file, or removes it if `text` is null. `base` is the hash that the file must have;
   * null if the file must not exist.
   */
  async save(
    name: string,
    { base, text, by }: { base: string | null; text: string | null; by: string },
  ): Promise<EditorChange> {
    const path = this.#changeable(name);
    if (text === null && path.name === 'AGENTS.md') {
      throw createUnchangedFileError(
        name,
        'without it, the folder would be created from the templates again; empty the file instead',
      );
    }
    if (text !== null) assertText(name, text);
    const what = text === null ? 'removed' : base === null ? 'made' : 'edited';
    const done = await this.#trying(path, (versions) =>
      versions.save(base, text, `${what} by ${by}`),
    );
    if (text === null) await this.#options.history.tidy();
    return toEditorChange(name, done);
  }

  /**
   * Lists versions, newest first, each with its reasons; these are empty if the text was found on
   * disk.
   */
  async versions(name: string) {
    const versions = this.#options.history.of(this.#path(name));
    const all = await versions.list();
    return Promise.all(all.map(async (one) => ({ ...one, why: await versions.why(one.name) })));
  }

  /** Reads a version byte for byte; null if it does not exist. */
  version(name: string, version: string): Promise<string | null> {
    return this.#options.history.of(this.#path(name)).raw(version);
  }

  async restore(name: string, version: string, by: string): Promise<EditorChange> {
    const path = this.#changeable(name);
    const done = await this.#trying(path, (versions) => versions.restore(version, `, by ${by}`));
    return toEditorChange(name, done);
  }

  /** Lists removed files whose versions are kept. */
  async removed(): Promise<readonly string[]> {
    const { folder, history } = this.#options;
    const kept = await history.files();
    return kept.filter((path) => walkPath(folder, path).kind === 'missing').map(({ name }) => name);
  }

  async #describe(path: FileName): Promise<EditorFile | null> {
    const { files, guest, folder } = this.#options;
    const walked = walkPath(folder, path);
    if (walked.kind !== 'file') return null;
    const file = await files.get(path);
    const seen = await guest.read(path.name, 0);
    const isOpen = seen.kind === 'file' || seen.reason === 'empty';
    return {
      name: path.name,
      readers: isGroupFile(path.name) ? 'conversation' : isOpen ? 'everyone' : 'owner',
      problem: describeFileProblem(file),
      tokens: 'reason' in file || file.isBlank ? 0 : estimateTokens(file.text),
      changedAt: walked.file.changedAt,
    };
  }

  #path(name: string): FileName {
    const path = parseFileName(name);
    if (path !== null && isMarkdown(name)) return path;
    throw createUnchangedFileError(
      name,
      'the path must be plain, inside the workspace, and end with .md',
    );
  }

  #changeable(name: string): FileName {
    const path = this.#path(name);
    const { governed, forgetful } = this.#options;
    if (governed && foldName(name) === foldName(SOUL)) {
      throw createUnchangedFileError(
        name,
        'it can only be changed through proposals, on the Soul page',
      );
    }
    if (forgetful && (isMemoryFile(name) || isGroupFile(name))) {
      throw createUnchangedFileError(name, 'memory is switched off in the settings (agent.memory)');
    }
    return path;
  }

  async #trying<T>(
    path: FileName,
    work: (versions: ReturnType<FileHistory['of']>) => Promise<T>,
  ): Promise<T> {
    try {
      return await work(this.#options.history.of(path));
    } catch (error) {
      throw createUnchangedFileError(
        path.name,
        error instanceof Error ? error.message : String(error),
        error,
      );
    }
  }
}

function describeFileProblem(file: ParsedFile | FileFault): string | null {
  if ('reason' in file) return 'detail' in file ? file.detail : null;
  return file.problem ?? file.warning;
}

function assertText(name: string, text: string): void {
  if (text.includes('\0') || !text.isWellFormed())
    throw createUnchangedFileError(name, 'it is not plain text');
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_BYTES)
    throw createUnchangedFileError(
      name,
      `it has ${bytes} bytes, more than the limit of ${MAX_BYTES}`,
    );
}

function toEditorChange(
  name: string,
  done: Awaited<ReturnType<ReturnType<FileHistory['of']>['save']>>,
): EditorChange {
  if (done.kind === 'refused') throw createUnchangedFileError(name, done.detail);
  return { kind: done.kind === 'written' ? 'written' : 'outdated' };
}

function createUnchangedFileError(name: string, why: string, cause?: unknown): WorkspaceError {
  return new WorkspaceError('workspace-file', `${name}: nothing was changed: ${why}.`, cause);
}
