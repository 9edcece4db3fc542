import { createReadStream, type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { BackupError } from './backup-error.ts';
import type { ArchiveWriter } from './write-archive.ts';

/** A folder, and under which name it stands in the archive. */
export interface BackedUpFolder {
  readonly name: string;
  readonly path: string;
}

/** What was put into the archive, and what was left out because it is neither file nor folder. */
export interface BackedUpFiles {
  readonly files: number;
  readonly leftOut: readonly string[];
}

/** Puts all files of these folders into the archive, one after the other. A missing folder has none. */
export async function addFiles(
  archive: ArchiveWriter,
  folders: readonly BackedUpFolder[],
): Promise<BackedUpFiles> {
  let files = 0;
  const leftOut: string[] = [];
  const addFolder = async ({ name, path }: BackedUpFolder): Promise<void> => {
    for (const entry of entriesOf(path)) {
      const inside = { name: `${name}/${entry.name}`, path: join(path, entry.name) };
      if (entry.isDirectory()) await addFolder(inside);
      else if (!entry.isFile()) leftOut.push(inside.path);
      else if (await addFile(archive, inside)) files += 1;
    }
  };
  for (const folder of folders) await addFolder(folder);
  return { files, leftOut };
}

function entriesOf(path: string): readonly Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true }).toSorted((a, b) =>
      a.name < b.name ? -1 : 1,
    );
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** False for a file that was removed meanwhile. */
async function addFile(archive: ArchiveWriter, { name, path }: BackedUpFolder): Promise<boolean> {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return false;
  const { size, mtime } = stat;
  const chunks = async function* (): AsyncIterable<Buffer> {
    let read = 0;
    // What is appended while it is read belongs to the next backup.
    if (size > 0) {
      for await (const chunk of createReadStream(path, { end: size - 1 })) {
        const bytes: Buffer = chunk;
        read += bytes.length;
        yield bytes;
      }
    }
    if (read < size) {
      const message = `${path} became shorter while it was read; make the backup again.`;
      throw new BackupError('backup-unwritable', message);
    }
  };
  await archive.addStream(name, size, mtime, chunks());
  return true;
}

/** The file or folder is not there. */
function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
