import { type NewId, reasonOf } from '@parley/contracts';
import { parseFileName } from './file-name.ts';
import type { Hold, WorkspaceLock } from './workspace-lock.ts';
import { contentOf, type DiskRefusal, lookAgain, writeFileInside } from './write-file.ts';
import { contentToWrite, refuseWriter, type WriteRefusal, type Writer } from './write-rules.ts';

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
}

/** Writes files of one workspace, each whole or not at all. Never throws. */
export interface FileWriter {
  write(order: WriteOrder, text: string): Promise<WriteResult>;
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
}

/** The writer of the workspace in `folder`. Writings follow one another: each sees what stood before it. */
export function createFileWriter(options: FileWriterOptions): FileWriter {
  const held = async <R>(work: (hold: Hold) => Promise<R>): Promise<R | DiskRefusal> => {
    try {
      return await options.lock.hold(work);
    } catch (error) {
      return { kind: 'refused', reason: 'disk', detail: reasonOf(error) };
    }
  };
  return {
    write: (order, text) => held((hold) => writeOne(options, order, text, hold)),
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
  { folder, maxBytes, newId }: FileWriterOptions,
  { name, ...writer }: WriteOrder,
  text: string,
  hold: Hold,
): Promise<WriteResult> {
  const path = parseFileName(name);
  if (path === null) return refused('path', 'not a path inside the workspace');
  const forbidden = refuseWriter(writer, path.name);
  if (forbidden !== null) return forbidden;
  const before = await contentOf(folder, path);
  if (before.kind === 'refused') return before;
  const content = contentToWrite(writer.reader, text, before.text);
  if (typeof content !== 'string') return content;
  const bytes = Buffer.from(content);
  if (bytes.length > maxBytes) {
    return refused('too-large', `${bytes.length} bytes, at most ${maxBytes} are kept`);
  }
  const result = await writeFileInside(folder, path, bytes, { newId, hold });
  if (result.kind === 'refused') return result;
  return { ...result, name: path.name, characters: content.length };
}

function refused<Reason extends string>(reason: Reason, detail: string) {
  return { kind: 'refused', reason, detail } as const;
}
