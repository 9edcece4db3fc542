import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { NewId } from '@parley/contracts';
import { type FileName, identityOf, parseFileName, walkPath } from './paths.ts';
import { diskReason } from './workspace-error.ts';
import {
  type PlannedWrite,
  planWrite,
  refuseApproval,
  refuseWriter,
  type WriteApproval,
  type WriteRefusal,
  type Writer,
} from './write-rules.ts';

/** What became of a writing. `detail` is for the model and for people, and never holds text of a file. */
export type WriteResult =
  | {
      readonly kind: 'written';
      readonly name: string;
      /** Length of what was written, in characters. */
      readonly characters: number;
      /** There was no such file before. */
      readonly created: boolean;
    }
  | WriteRefusal
  | DiskRefusal
  | Refused;

/** Why nothing is written that could be. */
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

/** Writes files of one workspace, each whole or not at all. Never throws. */
export interface FileWriter {
  write(order: WriteOrder, text: string): Promise<WriteResult>;
  /** What `write` or `change` would do now; nothing is written. */
  plan(order: WriteOrder, make: () => Promise<string | null | Refused>): Promise<WritePlan>;
  /** Writes what `make` gives while nobody else writes; null: there is nothing to write. */
  change(
    order: WriteOrder,
    make: () => Promise<string | null | Refused>,
  ): Promise<WriteResult | Unchanged>;
}

interface FileWriterOptions {
  /** The real path of the workspace. */
  readonly folder: string;
  /** Longer files would not be read. Bytes. */
  readonly maxBytes: number;
  readonly newId: NewId;
  readonly lock: WorkspaceLock;
  /** Whether a file lies in the folder of a skill that is the owner's, and is not its SKILL.md. */
  readonly inOwnersSkill: (name: FileName) => Promise<boolean>;
}

/** The writer of the workspace in `folder`. Writings follow one another: each sees what stood before it. */
export function createFileWriter(options: FileWriterOptions): FileWriter {
  const held = async <R>(work: (hold: Hold) => Promise<R>): Promise<R | DiskRefusal> => {
    try {
      return await options.lock.hold(work);
    } catch (error) {
      return { kind: 'refused', reason: 'disk', detail: diskReason(error) };
    }
  };
  return {
    write: (order, text) => held((hold) => writeOne(options, order, text, hold)),
    async plan(order, make) {
      const text = await make();
      if (text === null) return { kind: 'unchanged' };
      return typeof text === 'string' ? await planOne(options, order, text) : text;
    },
    change: (order, make) =>
      held(async (hold) => {
        const path = parseFileName(order.name);
        if (path !== null) await lookAgain(options.folder, path);
        const text = await make();
        if (text === null) return { kind: 'unchanged' };
        return typeof text === 'string' ? writeOne(options, order, text, hold) : text;
      }),
  };
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
  return { ...result, name: plan.name, characters: plan.content.length };
}

type PlannedPath = { readonly kind: 'planned'; readonly path: FileName } & PlannedWrite;

async function planOne(
  { folder, maxBytes, inOwnersSkill }: FileWriterOptions,
  { name, ...writer }: WriteOrder,
  text: string,
): Promise<PlannedPath | NotWritten> {
  const path = parseFileName(name);
  if (path === null) return notWritten('path', 'not a path inside the workspace');
  const forbidden = refuseWriter(writer, path.name);
  if (forbidden !== null) return forbidden;
  const before = await contentOf(folder, path);
  if (before.kind === 'refused') return before;
  const target = { name, before: before.text, inOwnersSkill: await inOwnersSkill(path) };
  const plan = planWrite(writer.reader, text, target);
  if ('kind' in plan) return plan;
  const bytes = Buffer.byteLength(plan.content);
  if (bytes > maxBytes)
    return notWritten('too-large', `${bytes} bytes, at most ${maxBytes} are kept`);
  return { kind: 'planned', path, ...plan };
}
function notWritten<Reason extends string>(reason: Reason, detail: string) {
  return { kind: 'refused', reason, detail } as const;
}

/** Why the disk was left as it is. `detail` is for people. */
export interface DiskRefusal {
  readonly kind: 'refused';
  readonly reason: 'link' | 'twin' | 'not-a-file' | 'disk' | 'overtaken';
  readonly detail: string;
}

/** What became of the bytes. */
export type DiskResult = { readonly kind: 'written'; readonly created: boolean } | DiskRefusal;

/** What a file holds before it is replaced; `text` is null when there is none. Never throws. */
export async function contentOf(
  folder: string,
  name: FileName,
): Promise<{ readonly kind: 'found'; readonly text: string | null } | DiskRefusal> {
  try {
    const blocked = obstacle(folder, name);
    if (blocked !== null) return blocked;
    if (walkPath(folder, name).kind === 'missing') return { kind: 'found', text: null };
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const text = await readFile(join(folder, ...name.segments), { encoding: 'utf8', flag: flags });
    return { kind: 'found', text };
  } catch (error) {
    return refused('disk', diskReason(error));
  }
}

/**
 * On a network file system other machines' changes are sure to be seen once the file has been opened, and
 * not before: so it is opened once for nothing. Never throws.
 */
export async function lookAgain(folder: string, name: FileName): Promise<void> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(join(folder, ...name.segments), flags).catch(() => null);
  await handle?.close();
}

/** How a file is written. */
export interface WritingFile {
  /** Names the temporary file beside it. */
  readonly newId: NewId;
  /** Whoever writes something that began with what stands there has the workspace to itself. */
  readonly hold: Hold;
}

/**
 * Puts `bytes` where `name` says: whole or not at all, for its owner alone (0600), and never through
 * a link. Makes the folders on the way.
 */
export async function writeFileInside(
  folder: string,
  name: FileName,
  bytes: Uint8Array,
  { newId, hold }: WritingFile,
): Promise<DiskResult> {
  try {
    const parents = name.segments.slice(0, -1);
    const blocked = (await makeFolders(folder, parents)) ?? obstacle(folder, name);
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

/** What stands in the place of the file and must not be replaced. */
function obstacle(folder: string, name: FileName): DiskRefusal | null {
  const found = walkPath(folder, name);
  if (found.kind === 'link') return refused('link', `${name.name} is a symbolic link`);
  if (found.kind === 'not-a-file') return refused('not-a-file', `${name.name} is no regular file`);
  if (found.kind === 'file' && found.file.hasTwin) {
    return refused('twin', `${name.name} has a second name (a hard link)`);
  }
  return null;
}

/** Writes beside the target and renames over it. Null: done. */
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
    // A folder on the way became a link meanwhile: what was written lies somewhere else.
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

function refused(reason: DiskRefusal['reason'], detail: string): DiskRefusal {
  return { kind: 'refused', reason, detail };
}

/** The time in which one writer has the workspace to itself. */
export interface Hold {
  /** False once somebody else may have been let in; what would be written then must not be. */
  isMine(): boolean;
}

/**
 * Lets one writer at a time change the files of a workspace, so that each change begins with what stands
 * there. Reading needs none: files are replaced as a whole.
 */
export interface WorkspaceLock {
  /** Work that is held must not ask again. Rejects with what `work` threw, or why it was not begun. */
  hold<T>(work: (hold: Hold) => Promise<T>): Promise<T>;
}

const FOR_EVER: Hold = { isMine: () => true };

/** For a workspace of this process alone: one after another, in the order of asking. */
export function localLock(): WorkspaceLock {
  let last: Promise<unknown> = Promise.resolve();
  return {
    hold(work) {
      const result = last.then(() => work(FOR_EVER));
      // What went wrong is told to whoever asked; the next one begins all the same.
      last = result.catch(() => undefined);
      return result;
    },
  };
}
