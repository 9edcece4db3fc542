import type { NewId } from '@parley/contracts';
import { type FileName, parseFileName } from './file-name.ts';
import { diskReason } from './workspace-error.ts';
import type { Hold, WorkspaceLock } from './workspace-lock.ts';
import { contentOf, type DiskRefusal, lookAgain, writeFileInside } from './write-file.ts';
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
  if (path === null) return refused('path', 'not a path inside the workspace');
  const forbidden = refuseWriter(writer, path.name);
  if (forbidden !== null) return forbidden;
  const before = await contentOf(folder, path);
  if (before.kind === 'refused') return before;
  const target = { name, before: before.text, inOwnersSkill: await inOwnersSkill(path) };
  const plan = planWrite(writer.reader, text, target);
  if ('kind' in plan) return plan;
  const bytes = Buffer.byteLength(plan.content);
  if (bytes > maxBytes) return refused('too-large', `${bytes} bytes, at most ${maxBytes} are kept`);
  return { kind: 'planned', path, ...plan };
}
function refused<Reason extends string>(reason: Reason, detail: string) {
  return { kind: 'refused', reason, detail } as const;
}
