import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';

/** A file in the fields of a call. */
export interface UploadedFile {
  readonly filename: string;
  /** Its bytes from the beginning. */
  read(): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** A body with files in it, and its content type. */
interface Form {
  readonly type: string;
  readonly body: Readable;
}

/**
 * The fields as a form where one of them is a file; undefined where JSON will do. Telegraf's own form loses objects
 * beside a file and writes file names into a header as they are.
 */
export function formOf(payload: object): Form | undefined {
  if (!Object.values(payload).some(isFile)) return undefined;
  const boundary = randomUUID();
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: Readable.from(partsOf(payload, boundary), { objectMode: false }),
  };
}

async function* partsOf(payload: object, boundary: string): AsyncGenerator<string | Uint8Array> {
  for (const [name, value] of Object.entries(payload)) {
    if (value === undefined) continue;
    yield `--${boundary}\r\ncontent-disposition: form-data; name="${name}"`;
    if (isFile(value)) {
      yield `; filename="${headerSafe(value.filename)}"\r\n\r\n`;
      yield* value.read();
    } else {
      yield `\r\n\r\n${typeof value === 'object' ? JSON.stringify(value) : value}`;
    }
    yield '\r\n';
  }
  yield `--${boundary}--\r\n`;
}

function isFile(value: unknown): value is UploadedFile {
  return typeof value === 'object' && value !== null && 'filename' in value && 'read' in value;
}

/** A quote or a line end would end the header, or forge another one. */
function headerSafe(name: string): string {
  return name.replace(/["\\\p{Cc}\u2028\u2029/]/gu, '_');
}
