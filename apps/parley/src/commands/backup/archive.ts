import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { isMissingFile, ParleyError, reasonOf } from '@parley/core';
import { z } from 'zod';

const BLOCK = 512;
/**
 * The maximum length of a name in the archive. Names over 100 bytes are stored in a separate tar
 * entry.
 */
const MAX_NAME_BYTES = 64 * 1024;
/**
 * The size limit of entries that are read into memory. In backups of version 0.1.0, the largest row
 * contains a file of 100 MB.
 */
const MAX_WHOLE_BYTES = 512 * 1024 * 1024;

/**
 * The content of `end.json`, the last entry of a backup. A backup is damaged if `end.json` is
 * missing or its totals do not match.
 */
const ArchiveTrailer = z.object({
  entries: z.int(),
  /** The hash over the names and contents of all previous entries, in hexadecimal. */
  sha256: z.string(),
});
type ArchiveTrailer = z.infer<typeof ArchiveTrailer>;

/**
 * A file in the backup archive. Its content must be read before the next entry is requested;
 * otherwise the content is skipped.
 */
export interface ArchiveEntry {
  readonly name: string;
  readonly size: number;
  chunks(): AsyncIterable<Buffer>;
  whole(): Promise<Buffer>;
}

/**
 * Yields the entries of a backup in order, and checks them against the final `end.json`. Throws
 * BackupError `backup-missing` or `backup-damaged`, at the latest after the last entry.
 */
export async function* readArchive(file: string): AsyncGenerator<ArchiveEntry> {
  const disk = createReadStream(file);
  const unzipped = createGunzip();
  // Node's `pipeline` would destroy the generator when reading stops, so read errors are forwarded
  // explicitly.
  disk.on('error', (reason) => unzipped.destroy(reason));
  // The stream may fail before anyone reads it; the first read then throws the error.
  unzipped.on('error', () => undefined);
  disk.pipe(unzipped);
  try {
    const tooShort = () =>
      createDamagedBackupError(file, new Error('it ends before its last entry'));
    yield* readEntries(new ByteReader(explainReadErrors(file, unzipped), tooShort));
  } catch (reason) {
    throw explainReadError(file, reason);
  } finally {
    disk.destroy();
    unzipped.destroy();
  }
}

/** Read errors are converted here because the caller reads an entry's content directly. */
async function* explainReadErrors(
  file: string,
  bytes: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  try {
    yield* bytes;
  } catch (reason) {
    throw explainReadError(file, reason);
  }
}

async function* readEntries(bytes: ByteReader): AsyncGenerator<ArchiveEntry> {
  const { Header, Pax } = await import('tar');
  const hash = createHash('sha256');
  let entries = 0;
  let extended: InstanceType<typeof Pax> | undefined;
  for (;;) {
    const header = new Header(await bytes.exactly(BLOCK));
    if (header.nullBlock) throw new Error('it ends before its last entry');
    if (!header.cksumValid) throw new Error('the beginning of an entry is damaged');
    const { size = 0 } = header;
    const name = extended?.path ?? header.path ?? '';
    if (header.type === 'ExtendedHeader') {
      const text = await bytes.exactly(Math.min(size, MAX_NAME_BYTES));
      extended = Pax.parse(text.toString(), undefined, false);
      await bytes.skip(computePadding(size));
      continue;
    }
    extended = undefined;
    const content = hashEntry(bytes, name, size, (chunk) => hash.update(chunk));
    if (name === 'end.json') {
      verifyTrailer(
        ArchiveTrailer.parse(JSON.parse((await content.whole()).toString())),
        entries,
        hash.digest('hex'),
      );
      return;
    }
    hash.update(`${name}\0${size}\0`);
    entries += 1;
    yield content;
    for await (const _rest of content.chunks());
    await bytes.skip(computePadding(size));
  }
}

/** Content that the caller has not read is skipped when the next entry is requested. */
function hashEntry(
  bytes: ByteReader,
  name: string,
  size: number,
  seen: (chunk: Buffer) => void,
): ArchiveEntry {
  let left = size;
  const chunks = async function* () {
    while (left > 0) {
      const chunk = await bytes.some(left);
      left -= chunk.length;
      if (name !== 'end.json') seen(chunk);
      yield chunk;
    }
  };
  return {
    name,
    size,
    chunks,
    async whole() {
      if (size > MAX_WHOLE_BYTES) throw new Error(`${name} is too large`);
      const parts: Buffer[] = [];
      for await (const chunk of chunks()) parts.push(chunk);
      return Buffer.concat(parts);
    },
  };
}

function computePadding(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK;
}

function verifyTrailer(end: ArchiveTrailer, entries: number, sha256: string): void {
  if (end.entries !== entries) throw new Error(`it has ${entries} of ${end.entries} entries`);
  if (end.sha256 !== sha256) throw new Error('its content does not match its checksum');
}

function explainReadError(file: string, reason: unknown): unknown {
  if (reason instanceof BackupError) return reason;
  if (isMissingFile(reason)) {
    return new BackupError('backup-missing', `There is no file ${file}.`, reason);
  }
  return createDamagedBackupError(file, reason);
}

/** Creates the error for an unusable backup; `reason` describes the problem. */
export function createDamagedBackupError(file: string, reason: unknown): BackupError {
  return new BackupError(
    'backup-damaged',
    `${file} is damaged or is not a Parley backup (${reasonOf(reason)}). Nothing was changed; use another backup.`,
    reason,
  );
}

/**
 * This compression level is fast and still compresses well; the gateway keeps working during a
 * backup.
 */
const GZIP_LEVEL = 3;

export type ArchiveWriter = Awaited<ReturnType<typeof writeArchive>>;

/**
 * Creates a new `.tar.gz` file that only its owner can read. Entries are added one at a time. The
 * tar library is loaded lazily.
 */
export async function writeArchive(to: string | Writable) {
  const { Header, Pax } = await import('tar');
  const gzip = createGzip({ level: GZIP_LEVEL });
  const options = { flags: 'wx', mode: 0o600, flush: true };
  const written = pipeline(gzip, typeof to === 'string' ? createWriteStream(to, options) : to);
  // If writing failed, `end` and the next write throw the error.
  written.catch(() => undefined);
  const hash = createHash('sha256');
  let entries = 0;
  const put = async (bytes: Uint8Array): Promise<void> => {
    if (gzip.destroyed) return await written;
    if (!gzip.write(bytes)) await Promise.race([once(gzip, 'drain'), written]);
  };
  const begin = async (path: string, size: number, mtime: Date): Promise<void> => {
    const header = new Header({ path, size, mode: 0o600, mtime, type: 'File' });
    const block = Buffer.alloc(BLOCK);
    if (header.encode(block, 0)) await put(new Pax({ path, size, mtime }).encode());
    await put(block);
    hash.update(`${path}\0${size}\0`);
    entries += 1;
  };
  const addStream = async (
    name: string,
    size: number,
    at: Date,
    chunks: AsyncIterable<Uint8Array> | readonly Uint8Array[],
  ): Promise<void> => {
    await begin(name, size, at);
    for await (const chunk of chunks) {
      hash.update(chunk);
      await put(chunk);
    }
    await put(Buffer.alloc(computePadding(size)));
  };
  return {
    add(name: string, content: Uint8Array | string): Promise<void> {
      const bytes = Buffer.from(content);
      return addStream(name, bytes.length, new Date(0), [bytes]);
    },
    /**
     * Like `add`, for content that is too large for memory. `chunks` must total exactly `size`
     * bytes.
     */
    addStream,
    /** Returns the number of entries and the hash over their names and contents. */
    digest: () => ({ entries, sha256: hash.copy().digest('hex') }),
    /** Writes the trailer of the archive. When the promise resolves, all data is on disk. */
    async end(): Promise<void> {
      await put(Buffer.alloc(2 * BLOCK));
      gzip.end();
      await written;
    },
    /** Stops writing the archive. The caller removes the incomplete file. */
    async abandon(): Promise<void> {
      gzip.destroy();
      await written.catch(() => undefined);
    },
  };
}

/**
 * Reads a stream in chunks of the requested size. Throws `tooShort` when the stream ends too early.
 */
class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  readonly #tooShort: () => Error;
  #ready: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>, tooShort: () => Error) {
    this.#tooShort = tooShort;
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Reads between one and `most` bytes. */
  async some(most: number): Promise<Buffer> {
    while (this.#ready.length === 0) {
      const next = await this.#source.next();
      if (next.done === true) throw this.#tooShort();
      this.#ready = next.value;
    }
    const taken = this.#ready.subarray(0, most);
    this.#ready = this.#ready.subarray(taken.length);
    return taken;
  }

  async exactly(size: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let left = size; left > 0; ) {
      const part = await this.some(left);
      parts.push(part);
      left -= part.length;
    }
    return Buffer.concat(parts);
  }

  async skip(size: number): Promise<void> {
    await this.exactly(size);
  }
}

export type BackupErrorCode =
  | 'backup-exists'
  | 'backup-missing'
  | 'backup-damaged'
  | 'backup-newer'
  | 'backup-unwritable'
  | 'backup-postgres'
  | 'restore-unfinished';

/**
 * Thrown when a backup or restore fails. The installation is unchanged unless the message says
 * otherwise.
 */
export class BackupError extends ParleyError {
  constructor(code: BackupErrorCode, message: string, cause?: unknown) {
    super({ code, message, retryable: false, cause });
  }
}
