import type { NewId } from '@parley/core';
import { isMemory } from './audience.ts';
import type { FileHistory } from './file-history.ts';
import { describeDiskError, type FileName, MAX_BYTES, parseFileName } from './paths.ts';
import type { LockHold, WorkspaceLock } from './workspace-lock.ts';
import {
  type DiskRefusal,
  readForWrite,
  refreshCache,
  refuseOnDisk,
  writeFileInside,
} from './write-file.ts';
import {
  type PlannedWrite,
  planWrite,
  refuseApproval,
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
  | WriteNotDone;

/** The reason why a file is not written although the reader may write it. */
export interface WriteRefused {
  readonly kind: 'refused';
  readonly reason: 'path' | 'too-large' | 'unreadable';
  readonly detail: string;
}

/** The text was unchanged, so the file was not written. */
export interface WriteUnchanged {
  readonly kind: 'unchanged';
}

/** A request by a reader to write a file. */
interface WriteOrder extends WriteAuthor {
  readonly name: string;
  readonly approval?: WriteApproval | undefined;
}

/** The effect of a planned write, or the reason to refuse it. */
export type WritePlan =
  | ({ readonly kind: 'planned' } & PlannedWrite)
  | WriteNotDone
  | WriteUnchanged;

type WriteNotDone = WriteRefusal | DiskRefusal | WriteRefused;

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
type CreateText = () => Promise<string | null | WriteRefused>;

/** Writes files in one workspace, each atomically, one write at a time. Never throws. */
export class FileWriter {
  readonly #options: FileWriterOptions;

  constructor(options: FileWriterOptions) {
    this.#options = options;
  }

  write(order: WriteOrder, text: string): Promise<WriteResult> {
    return this.#locked((hold) => writeOne(this.#options, order, text, hold));
  }

  /** Plans what `write` or `change` would do now, without writing. */
  async plan(order: WriteOrder, make: CreateText): Promise<WritePlan> {
    const text = await make();
    if (text === null) return { kind: 'unchanged' };
    return typeof text === 'string' ? await planOne(this.#options, order, text) : text;
  }

  /** Writes the text that `make` returns, while holding the lock. */
  change(order: WriteOrder, make: CreateText): Promise<WriteResult | WriteUnchanged> {
    return this.#locked(async (hold) => {
      const path = parseFileName(order.name);
      if (path !== null) await refreshCache(this.#options.folder, path);
      const text = await make();
      if (text === null) return { kind: 'unchanged' };
      return typeof text === 'string' ? writeOne(this.#options, order, text, hold) : text;
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

async function writeOne(
  options: FileWriterOptions,
  order: WriteOrder,
  text: string,
  hold: LockHold,
): Promise<WriteResult> {
  const { folder, newId } = options;
  const plan = await planOne(options, order, text);
  if (plan.kind === 'refused') return plan;
  const unapproved = refuseApproval(plan, order.approval);
  if (unapproved !== null) return unapproved;
  const bytes = Buffer.from(plan.content);
  const result = await writeFileInside(folder, plan.path, bytes, { newId, hold });
  if (result.kind === 'refused') return result;
  if (isVersionKept(order)) {
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
function isVersionKept({ name, reader, approval }: WriteOrder): boolean {
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
): Promise<PlannedPath | WriteNotDone> {
  const path = parseFileName(name);
  if (path === null) return refuseOnDisk('path', 'not a path inside the workspace');
  const forbidden = refuseWriter(writer, path.name);
  if (forbidden !== null) return forbidden;
  const before = await readForWrite(folder, path);
  if (before.kind === 'refused') return before;
  const target = { name, before: before.text, inOwnersSkill: await inOwnersSkill(path) };
  const plan = planWrite(writer.reader, text, target);
  if ('kind' in plan) return plan;
  const bytes = Buffer.byteLength(plan.content);
  if (bytes > MAX_BYTES)
    return refuseOnDisk('too-large', `it has ${bytes} bytes, more than the limit of ${MAX_BYTES}`);
  return { kind: 'planned', path, before: before.text, ...plan };
}
