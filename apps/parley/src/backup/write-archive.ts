import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/** Tar counts in blocks. */
const BLOCK = 512;
/** A backup is made beside running work: a level that costs little and leaves little. */
const GZIP_LEVEL = 3;

/** A `.tar.gz` that is being written; one entry at a time. */
export interface ArchiveWriter {
  add(name: string, content: Uint8Array | string, at?: Date): Promise<void>;
  /** As `add`, for more than memory should hold. `chunks` has exactly `size` bytes. */
  addStream(name: string, size: number, at: Date, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /** How many entries there are, and the hash over their names and contents. */
  digest(): { readonly entries: number; readonly sha256: string };
  /** Writes the end; everything is on the disk when it resolves. */
  end(): Promise<void>;
  /** Gives up; the file is left for the caller to remove. */
  abandon(): Promise<void>;
}

/** Opens `file`, which must not exist, for its owner alone. Tar's library is loaded with the first use. */
export async function writeArchive(file: string): Promise<ArchiveWriter> {
  const { Header, Pax } = await import('tar');
  const gzip = createGzip({ level: GZIP_LEVEL });
  const disk = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true });
  const written = pipeline(gzip, disk);
  // Told by `end`, and by the next write.
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
  const pad = (size: number) => put(Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK));
  return {
    async add(name, content, at = new Date(0)) {
      const bytes = typeof content === 'string' ? Buffer.from(content) : content;
      await begin(name, bytes.length, at);
      hash.update(bytes);
      await put(bytes);
      await pad(bytes.length);
    },
    async addStream(name, size, at, chunks) {
      await begin(name, size, at);
      for await (const chunk of chunks) {
        hash.update(chunk);
        await put(chunk);
      }
      await pad(size);
    },
    digest: () => ({ entries, sha256: hash.copy().digest('hex') }),
    async end() {
      await put(Buffer.alloc(2 * BLOCK));
      gzip.end();
      await written;
    },
    async abandon() {
      gzip.destroy();
      await written.catch(() => undefined);
    },
  };
}
