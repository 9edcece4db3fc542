import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { NewId } from '@parley/core';
import { isMemory } from './audience.ts';
import type { FileHistory } from './file-history.ts';
import { textOfFile } from './file-text.ts';
import {
  diskReason,
  type FileName,
  identityOf,
  MAX_BYTES,
  openInside,
  parseFileName,
  walkPath,
} from './paths.ts';
import {
  type PlannedWrite,
  planWrite,
  refuseApproval,
  refuseWriter,
  type WriteApproval,
  type WriteRefusal,
  type Writer,
} from './write-rules.ts';

/** The result of a write. `detail` is for the model and for people, and never holds text of a file. */
export type WriteResult =
  | {
      readonly kind: 'written';
      readonly name: string;
      /** Length of what was written, in characters. */
      readonly characters: number;
      /** There was no such file before. */
      readonly created: boolean;
    }
  | NotWritten;

/** Why nothing is written that the reader may write. */
export interface Refused {
  readonly kind: 'refused';
  readonly reason: 'path' | 'too-large' | 'unreadable';
  readonly detail: string;
}

/** There was nothing to write. */
export interface Unchanged {
  readonly kind: 'unchanged';
}

/** A file that a reader writes. */
interface WriteOrder extends Writer {
  readonly name: string;
  readonly approval?: WriteApproval | undefined;
}

/** What a write would do, or why it would not be done. */
export type WritePlan = ({ readonly kind: 'planned' } & PlannedWrite) | NotWritten | Unchanged;

type NotWritten = WriteRefusal | DiskRefusal | Refused;

interface FileWriterOptions {
  /** The real path of the workspace. */
  readonly folder: string;
  readonly newId: NewId;
  readonly lock: WorkspaceLock;
  /** Where what an agent replaces for its owner is kept. */
  readonly history: Pick<FileHistory, 'of'>;
  /** Whether a file lies in the folder of a skill that is the owner's, and is not its SKILL.md. */
  readonly inOwnersSkill: (name: FileName) => Promise<boolean>;
}

/** Makes the new text; null: there is nothing to write. */
type MakeText = () => Promise<string | null | Refused>;

/** Writes files of one workspace, each whole or not at all, one write at a time. Never throws. */
export class FileWriter {
  readonly #options: FileWriterOptions;

  constructor(options: FileWriterOptions) {
    this.#options = options;
  }

  write(order: WriteOrder, text: string): Promise<WriteResult> {
    return this.#locked((hold) => writeOne(this.#options, order, text, hold));
  }

  /** What `write` or `change` would do now; nothing is written. */
  async plan(order: WriteOrder, make: MakeText): Promise<WritePlan> {
    const text = await make();
    if (text === null) return { kind: 'unchanged' };
    return typeof text === 'string' ? await planOne(this.#options, order, text) : text;
  }

  /** Writes the text that `make` returns while holding the lock. */
  change(order: WriteOrder, make: MakeText): Promise<WriteResult | Unchanged> {
    return this.#locked(async (hold) => {
      const path = parseFileName(order.name);
      if (path !== null) await lookAgain(this.#options.folder, path);
      const text = await make();
      if (text === null) return { kind: 'unchanged' };
      return typeof text === 'string' ? writeOne(this.#options, order, text, hold) : text;
    });
  }

  async #locked<R>(work: (hold: Hold) => Promise<R>): Promise<R | DiskRefusal> {
    try {
      return await this.#options.lock.hold(work);
    } catch (error) {
      return refused('disk', diskReason(error));
    }
  }
}

async function writeOne(
  options: FileWriterOptions,
  order: WriteOrder,
  text: string,
  hold: Hold,
): Promise<WriteResult> {
  const { folder, newId } = options;
  const plan = await planOne(options, order, text);
  if (plan.kind === 'refused') return plan;
  const unapproved = refuseApproval(plan, order.approval);
  if (unapproved !== null) return unapproved;
  const bytes = Buffer.from(plan.content);
  const result = await writeFileInside(folder, plan.path, bytes, { newId, hold });
  if (result.kind === 'refused') return result;
  if (isKept(order)) {
    const versions = options.history.of(plan.path);
    // The write is done; a version that cannot be kept does not undo it.
    await versions.note(hold, plan.before, plan.content, 'written by the agent').catch(() => null);
  }
  return { ...result, name: plan.name, characters: plan.content.length };
}

/** Not the lines that are added to memory all the time, and never what a person has just forgotten. */
function isKept({ name, reader, approval }: WriteOrder): boolean {
  if (reader.kind !== 'owner' || approval?.by === 'command') return false;
  return name === 'MEMORY.md' || !isMemory(name);
}

type PlannedPath = {
  readonly kind: 'planned';
  readonly path: FileName;
  readonly before: string | null;
} & PlannedWrite;

async function planOne(
  { folder, inOwnersSkill }: FileWriterOptions,
  { name, ...writer }: WriteOrder,
  text: string,
): Promise<PlannedPath | NotWritten> {
  const path = parseFileName(name);
  if (path === null) return refused('path', 'not a path inside the workspace');
  const forbidden = refuseWriter(writer, path.name);
  if (forbidden !== null) return forbidden;
  const before = await contentOf(folder, path);
  if (before.kind === 'refused') return before;
  const target = { name, before: before.text, inOwnersSkill: await inOwnersSkill(path) };
  const plan = planWrite(writer.reader, text, target);
  if ('kind' in plan) return plan;
  const bytes = Buffer.byteLength(plan.content);
  if (bytes > MAX_BYTES)
    return refused('too-large', `${bytes} bytes, at most ${MAX_BYTES} are kept`);
  return { kind: 'planned', path, before: before.text, ...plan };
}

/** Why the file on the disk was not changed. `detail` is for people. */
export interface DiskRefusal {
  readonly kind: 'refused';
  readonly reason: 'link' | 'twin' | 'not-a-file' | 'not-text' | 'disk' | 'overtaken';
  readonly detail: string;
}

export type DiskResult = { readonly kind: 'written'; readonly created: boolean } | DiskRefusal;

/**
 * What a file holds before it is replaced, in whatever encoding; `text` is null when there is none. What is no text is
 * not replaced: it could not be kept as an earlier version. Never throws.
 */
export async function contentOf(
  folder: string,
  name: FileName,
): Promise<{ readonly kind: 'found'; readonly text: string | null } | DiskRefusal> {
  try {
    const blocked = obstacle(folder, name);
    if (blocked !== null) return blocked;
    if (walkPath(folder, name).kind === 'missing') return { kind: 'found', text: null };
    await using handle = await openInside(folder, name.segments);
    const read = textOfFile(await handle.readFile());
    if (read.kind === 'text') return { kind: 'found', text: read.text };
    return refused('not-text', `${name.name} is kept as it is: ${read.detail}`);
  } catch (error) {
    return refused('disk', diskReason(error));
  }
}

/**
 * Opens the file and closes it: on a network file system this alone makes changes of other machines
 * visible. Never throws.
 */
export async function lookAgain(folder: string, name: FileName): Promise<void> {
  const handle = await openInside(folder, name.segments).catch(() => null);
  await handle?.close();
}

/** How a file is written. */
export interface WritingFile {
  /** Names the temporary file beside it. */
  readonly newId: NewId;
  /** Held since the content that is replaced was read. */
  readonly hold: Hold;
  /** Also replaces a name of a file that has another one (a hard link); the other keeps the file. */
  readonly replacesTwin?: boolean;
}

/**
 * Puts `bytes` where `name` says: whole or not at all, for its owner alone (0600), and never through
 * a link. Makes the folders on the way.
 */
export async function writeFileInside(
  folder: string,
  name: FileName,
  bytes: Uint8Array,
  { newId, hold, replacesTwin = false }: WritingFile,
): Promise<DiskResult> {
  try {
    const parents = name.segments.slice(0, -1);
    const blocked = (await makeFolders(folder, parents)) ?? obstacle(folder, name, replacesTwin);
    if (blocked !== null) return blocked;
    const created = walkPath(folder, name).kind === 'missing';
    // Hidden, so that neither a listing nor a reading can meet it.
    const temporary = { segments: [...parents, `.${newId('w')}.tmp`] };
    return (
      (await replace({ folder, hold }, temporary, name, bytes)) ?? { kind: 'written', created }
    );
  } catch (error) {
    return refused('disk', diskReason(error));
  }
}

/** Makes each missing folder (0700); a link or a file in the place of one ends it. Null: done. */
export async function makeFolders(
  folder: string,
  parents: readonly string[],
): Promise<DiskRefusal | null> {
  for (const [index] of parents.entries()) {
    const segments = parents.slice(0, index + 1);
    const found = walkPath(folder, { segments });
    if (found.kind === 'link') return refused('link', `${segments.join('/')} is a symbolic link`);
    if (found.kind === 'file') return refused('not-a-file', `${segments.join('/')} is no folder`);
    // "not-a-file" is the folder itself, or something odd that the next step cannot be made in.
    if (found.kind === 'missing') await mkdir(join(folder, ...segments), { mode: 0o700 });
  }
  return null;
}

/** Why what is at this path must not be replaced; null: it may be. */
function obstacle(folder: string, name: FileName, isTwinFine = false): DiskRefusal | null {
  const found = walkPath(folder, name);
  if (found.kind === 'link') return refused('link', `${name.name} is a symbolic link`);
  if (found.kind === 'not-a-file') return refused('not-a-file', `${name.name} is no regular file`);
  if (found.kind === 'file' && found.file.hasTwin && !isTwinFine) {
    return refused('twin', `${name.name} has a second name (a hard link)`);
  }
  return null;
}

/** Writes a temporary file beside the target and renames it. Null: done. */
async function replace(
  { folder, hold }: { readonly folder: string; readonly hold: Hold },
  temporary: Pick<FileName, 'segments'>,
  name: FileName,
  bytes: Uint8Array,
): Promise<DiskRefusal | null> {
  const path = join(folder, ...temporary.segments);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(path, flags, 0o600);
  let done = false;
  try {
    await fill(handle, bytes);
    const stats = await handle.stat({ bigint: true });
    const found = walkPath(folder, temporary);
    // A parent folder became a link meanwhile: the bytes are somewhere else.
    if (found.kind !== 'file' || found.file.identity !== identityOf(stats)) {
      return refused('link', `the folder of ${name.name} was replaced`);
    }
    if (!hold.isMine()) return refused('overtaken', 'another process began to write meanwhile');
    await rename(path, join(folder, ...name.segments));
    done = true;
    return null;
  } finally {
    await handle.close();
    if (!done) await rm(path, { force: true });
  }
}

async function fill(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  // The mode given to open is narrowed by the umask and never widened; this makes it exact.
  await handle.chmod(0o600);
  await handle.writeFile(bytes);
  await handle.sync();
}

function refused<Reason extends string>(reason: Reason, detail: string) {
  return { kind: 'refused', reason, detail } as const;
}

/** The time in which one writer has the workspace to itself. */
export interface Hold {
  /** False once another writer may have got the lock; the write must then be refused. */
  isMine(): boolean;
}

/**
 * Lets one writer at a time change the files of a workspace, so that each change is based on the current
 * content. Reading needs no lock: files are replaced as a whole.
 */
export interface WorkspaceLock {
  /** Not re-entrant. Rejects with what `work` threw, or why it was not started. */
  hold<T>(work: (hold: Hold) => Promise<T>): Promise<T>;
}

const ALWAYS_MINE: Hold = { isMine: () => true };

/** For a workspace of this process alone: one writer after another, in the order of the calls. */
export function localLock(): WorkspaceLock {
  let last: Promise<unknown> = Promise.resolve();
  return {
    hold(work) {
      const result = last.then(() => work(ALWAYS_MINE));
      // The caller gets the error; the next writer starts all the same.
      last = result.catch(() => undefined);
      return result;
    },
  };
}
