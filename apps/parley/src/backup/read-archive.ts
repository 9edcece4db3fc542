import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { reasonOf } from '@parley/contracts';
import { End } from './archive-format.ts';
import { BackupError } from './backup-error.ts';
import { ByteReader } from './byte-reader.ts';

const BLOCK = 512;
/** Names longer than 100 bytes stand in an entry of their own, a few kilobytes at most. */
const LARGEST_NAME_BYTES = 64 * 1024;
/** Of what is read whole: the largest row is one with a file of 100 MB. */
const LARGEST_WHOLE_BYTES = 512 * 1024 * 1024;

/** One file of the archive. Its content is read before the next entry is asked for, or is skipped. */
export interface ArchiveEntry {
  readonly name: string;
  readonly size: number;
  chunks(): AsyncIterable<Buffer>;
  whole(): Promise<Buffer>;
}

/**
 * The entries of a backup in their order, without `end.json`, which is compared with them. Throws
 * BackupError `backup-missing` or `backup-damaged`, at the latest after the last entry.
 */
export async function* readArchive(file: string): AsyncGenerator<ArchiveEntry> {
  const disk = createReadStream(file);
  const unzipped = createGunzip();
  // Node's `pipeline` would end this one as soon as nobody reads; each passes its failure on by itself.
  disk.on('error', (reason) => unzipped.destroy(reason));
  // It may fail before anybody reads from it; whoever does then is told.
  unzipped.on('error', () => undefined);
  disk.pipe(unzipped);
  try {
    const tooShort = () => damaged(file, new Error('it ends too early'));
    yield* entriesOf(new ByteReader(told(file, unzipped), tooShort));
  } catch (reason) {
    throw explained(file, reason);
  } finally {
    disk.destroy();
    unzipped.destroy();
  }
}

/** Content is read by whoever got the entry, who shall hear the same of it. */
async function* told(file: string, bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* bytes;
  } catch (reason) {
    throw explained(file, reason);
  }
}

async function* entriesOf(bytes: ByteReader): AsyncGenerator<ArchiveEntry> {
  const { Header, Pax } = await import('tar');
  const hash = createHash('sha256');
  let entries = 0;
  let extended: InstanceType<typeof Pax> | undefined;
  for (;;) {
    const header = new Header(await bytes.exactly(BLOCK));
    if (header.nullBlock) throw new Error('it ends too early');
    if (!header.cksumValid) throw new Error('the beginning of an entry is damaged');
    const { size = 0 } = header;
    const name = extended?.path ?? header.path ?? '';
    if (header.type === 'ExtendedHeader') {
      const text = await bytes.exactly(Math.min(size, LARGEST_NAME_BYTES));
      extended = Pax.parse(text.toString(), undefined, false);
      await bytes.skip(padding(size));
      continue;
    }
    extended = undefined;
    const content = contentOf(bytes, name, size, (chunk) => hash.update(chunk));
    if (name === 'end.json') {
      compare(
        End.parse(JSON.parse((await content.whole()).toString())),
        entries,
        hash.digest('hex'),
      );
      return;
    }
    hash.update(`${name}\0${size}\0`);
    entries += 1;
    yield content;
    for await (const _rest of content.chunks());
    await bytes.skip(padding(size));
  }
}

/** Whatever was not read when the next one is asked for is read over. */
function contentOf(
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
      if (size > LARGEST_WHOLE_BYTES) throw new Error(`${name} is too large`);
      const parts: Buffer[] = [];
      for await (const chunk of chunks()) parts.push(chunk);
      return Buffer.concat(parts);
    },
  };
}

function padding(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK;
}

function compare(end: End, entries: number, sha256: string): void {
  if (end.entries !== entries) throw new Error(`it has ${entries} of ${end.entries} entries`);
  if (end.sha256 !== sha256) throw new Error('its content is not what was written');
}

function explained(file: string, reason: unknown): unknown {
  if (reason instanceof BackupError) return reason;
  if (reason instanceof Error && 'code' in reason && reason.code === 'ENOENT') {
    return new BackupError('backup-missing', `There is no file ${file}.`, reason);
  }
  return damaged(file, reason);
}

/** A backup that cannot be used; `reason` says what was found. */
export function damaged(file: string, reason: unknown): BackupError {
  return new BackupError(
    'backup-damaged',
    `${file} is damaged or is no backup of Parley (${reasonOf(reason)}). Nothing was changed; take another one.`,
    reason,
  );
}
