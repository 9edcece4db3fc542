import type { NewId } from '@parley/core';
import { isMemoryFile } from './audience.ts';
import type { FileHistory } from './file-history.ts';
import { describeDiskError, type FileName, MAX_BYTES, parseFileName } from './paths.ts';
import type { LockHold, WorkspaceLock } from './workspace-lock.ts';
import {
  type DiskRefusal,
  readFileForWrite,
  refreshCache,
  refuseOnDisk,
  writeFileInside,
} from './write-file.ts';
import {
  type PlannedWrite,
  planWrite,
  refuseUnapprovedWrite,
  refuseWriter,
  type WriteApproval,
  type WriteAuthor,
  type WriteRefusal,
} from './write-rules.ts';

/**
 * The result of a write; `detail` is for the model and for people, and never contains text from a
 * file.
 */
export type WriteResult =
  | {
      readonly kind: 'written';
      readonly name: string;
      /** The length of the written text, in characters. */
      readonly characters: number;
      /** Whether the write created the file. */
      readonly created: boolean;
    }
  | UnsuccessfulWrite;

/** The reason why a file is not written although the reader may write it. */
export interface WriteFailure {
  readonly kind: 'refused';
  readonly reason: 'path' | 'too-large' | 'unreadable';
  readonly detail: string;
}

/** The text was unchanged, so the file was not written. */
export interface UnchangedWrite {
  readonly kind: 'unchanged';
}

/** A request by a reader to write a file. */
interface WriteRequest extends WriteAuthor {
  readonly name: string;
  readonly approval?: WriteApproval | undefined;
}

/** The effect of a planned write, or the reason to refuse it. */
export type WritePlan =
  | ({ readonly kind: 'planned' } & PlannedWrite)
  | UnsuccessfulWrite
  | UnchangedWrite;

type UnsuccessfulWrite = WriteRefusal | DiskRefusal | WriteFailure;

interface FileWriterOptions {
  /** The real path of the workspace. */
  readonly folder: string;
  readonly newId: NewId;
  readonly lock: WorkspaceLock;
  /** Stores the previous version for the owner when an agent replaces a file. */
  readonly history: Pick<FileHistory, 'of'>;
  /** Whether a file is in the folder of a private skill, without being its SKILL.md. */
  readonly inOwnersSkill: (name: FileName) => Promise<boolean>;
}

/** Creates the new text; null if there is no change to write. */
type CreateText = () => Promise<string | null | WriteFailure>;

/** Writes files in one workspace, each atomically, one write at a time. Never throws. */
export class FileWriter {
  readonly #options: FileWriterOptions;

  constructor(options: FileWriterOptions) {
    this.#options = options;
  }

  write(order: WriteRequest, text: string): Promise<WriteResult> {
    return this.#locked((hold) => writeSingleFile(this.#options, order, text, hold));
  }

  /** Plans what `write` or `change` would do now, without writing. */
  async plan(order: WriteRequest, make: CreateText): Promise<WritePlan> {
    const text = await make();
    if (text === null) return { kind: 'unchanged' };
    return typeof text === 'string' ? await planFileWrite(this.#options, order, text) : text;
  }

  /** Writes the text that `make` returns, while holding the lock. */
  change(order: WriteRequest, make: CreateText): Promise<WriteResult | UnchangedWrite> {
    return this.#locked(async (hold) => {
      const path = parseFileName(order.name);
      if (path !== null) await refreshCache(this.#options.folder, path);
      const text = await make();
      if (text === null) return { kind: 'unchanged' };
      return typeof text === 'string' ? writeSingleFile(this.#options, order, text, hold) : text;
    });
  }

  async #locked<R>(work: (hold: LockHold) => Promise<R>): Promise<R | DiskRefusal> {
    try {
      return await this.#options.lock.hold(work);
    } catch (error) {
      return refuseOnDisk('disk', describeDiskError(error));
    }
  }
}

async function writeSingleFile(
  options: FileWriterOptions,
  order: WriteRequest,
  text: string,
  hold: LockHold,
): Promise<WriteResult> {
  const { folder, newId } = options;
  const plan = await planFileWrite(options, order, text);
  if (plan.kind === 'refused') return plan;
  const unapproved = refuseUnapprovedWrite(plan, order.approval);
  if (unapproved !== null) return unapproved;
  const bytes = Buffer.from(plan.content);
  const result = await writeFileInside(folder, plan.path, bytes, { newId, hold });
  if (result.kind === 'refused') return result;
  if (shouldKeepVersion(order)) {
    const versions = options.history.of(plan.path);
    // The write has already succeeded, and a failure to store the version does not undo it.
    await versions.note(hold, plan.before, plan.content, 'written by the agent').catch(() => null);
  }
  return { ...result, name: plan.name, characters: plan.content.length };
}

/**
 * Versions are not kept of lines that are constantly added to memory, or of text that a person has
 * just asked to forget.
 */
function shouldKeepVersion({ name, reader, approval }: WriteRequest): boolean {
  if (reader.kind !== 'owner' || approval?.by === 'command') return false;
  return name === 'MEMORY.md' || !isMemoryFile(name);
}

type PlannedPath = {
  readonly kind: 'planned';
  readonly path: FileName;
  readonly before: string | null;
} & PlannedWrite;

async function planFileWrite(
  { folder, inOwnersSkill }: FileWriterOptions,
  { name, ...writer }: WriteRequest,
  text: string,
): Promise<PlannedPath | UnsuccessfulWrite> {
  const path = parseFileName(name);
  if (path === null) return refuseOnDisk('path', 'not a path inside the workspace');
  const forbidden = refuseWriter(writer, path.name);
  if (forbidden !== null) return forbidden;
  const before = await readFileForWrite(folder, path);
  if (before.kind === 'refused') return before;
  const target = { name, before: before.text, inOwnersSkill: await inOwnersSkill(path) };
  const plan = planWrite(writer.reader, text, target);
  if ('kind' in plan) return plan;
  const bytes = Buffer.byteLength(plan.content);
  if (bytes > MAX_BYTES)
    return refuseOnDisk('too-large', `it has ${bytes} bytes, more than the limit of ${MAX_BYTES}`);
  return { kind: 'planned', path, before: before.text, ...plan };
}
