import type { NewId } from '@parley/contracts';
import { parseFileName } from './file-name.ts';
import { contentOf, type DiskRefusal, writeFileInside } from './write-file.ts';
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
  | {
      readonly kind: 'refused';
      readonly reason: 'path' | 'too-large';
      readonly detail: string;
    };

/** One writing of a reader. */
interface WriteOrder extends Writer {
  readonly name: string;
  readonly text: string;
}

/** Writes files of one workspace, each whole or not at all. Never throws. */
export interface FileWriter {
  write(order: WriteOrder): Promise<WriteResult>;
  /** Does other work on the files while nothing is written. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

interface FileWriterOptions {
  /** The real path of the workspace. */
  readonly folder: string;
  /** Longer files would not be read. Bytes. */
  readonly maxBytes: number;
  readonly newId: NewId;
}

/** The writer of the workspace in `folder`. Writings follow one another: each sees what stood before it. */
export function createFileWriter(options: FileWriterOptions): FileWriter {
  let last: Promise<unknown> = Promise.resolve();
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work);
    // What went wrong is told to whoever asked; the next one begins all the same.
    last = result.catch(() => undefined);
    return result;
  };
  return { write: (order) => alone(() => writeOne(options, order)), alone };
}

async function writeOne(
  { folder, maxBytes, newId }: FileWriterOptions,
  { name, text, ...writer }: WriteOrder,
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
  const result = await writeFileInside(folder, path, bytes, newId);
  if (result.kind === 'refused') return result;
  return { ...result, name: path.name, characters: content.length };
}

function refused<Reason extends string>(reason: Reason, detail: string) {
  return { kind: 'refused', reason, detail } as const;
}
