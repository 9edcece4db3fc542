import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { entryKind } from './archive-format.ts';
import { readArchive } from './read-archive.ts';

/** Where the settings of a backup are put; null: they are not wanted. */
export interface Staged {
  readonly folder: string;
  readonly settings: string | null;
}

/** Takes the files out of a backup into a folder of their own. */
export async function stageFiles(file: string, { folder, settings }: Staged): Promise<void> {
  for await (const entry of readArchive(file)) {
    const is = entryKind(entry.name);
    if (is?.kind === 'settings' && settings !== null) await write(settings, entry.chunks());
    if (is?.kind === 'file') await write(join(folder, is.folder, ...is.path), entry.chunks());
  }
}

async function write(path: string, chunks: AsyncIterable<Buffer>): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  await pipeline(chunks, createWriteStream(path, { mode: 0o600, flush: true }));
}
