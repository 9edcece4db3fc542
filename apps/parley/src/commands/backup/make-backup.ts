import {
  type Dirent,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, isMissingFile, ParleyError, reasonOf } from '@parley/core';
import { copyDatabase } from '@parley/store/backup';
import packageJson from '../../../package.json' with { type: 'json' };
import { CliError } from '../../data-folder.ts';
import { type ArchiveWriter, BackupError, writeArchive } from './archive.ts';
import {
  type BackupManifest,
  DATABASE,
  DATABASE_FILES,
  DATABASE_NAME,
  FOLDERS,
  FORMAT,
  type NamedFolder,
} from './contents.ts';
import { openWorkFolder, removeAbandonedFolders } from './work-folder.ts';

interface BackupOptions {
  readonly file: string;
  /** The path of the SQLite file. */
  readonly database: string;
  readonly settingsFile: string;
  readonly workspaces: readonly NamedFolder[];
  readonly dataFolder: string;
  readonly clock: Clock;
  /** Cancels the backup before the next file is added. */
  readonly signal?: AbortSignal;
}

/**
 * Writes a backup into a single file, whether or not the gateway is running. The backup file gets
 * its final name only when it is complete. If it throws BackupError, StoreError or CliError, no
 * file is left behind.
 */
export async function createBackup(order: BackupOptions) {
  const { file, database, dataFolder } = order;
  if (existsSync(file)) {
    throw new BackupError('backup-exists', `${file} already exists. Choose another file name.`);
  }
  if (!existsSync(database)) {
    throw new CliError('database-missing', `There is no database to back up at ${database}.`);
  }
  removeAbandonedFolders(dataFolder);
  const part = `${file}.part`;
  rmSync(part, { force: true });
  using work = openWorkFolder(dataFolder, 'backing-up-');
  work.alsoRemove(part);
  try {
    const copy = join(work.path, DATABASE_NAME);
    const { steps, files } = await copyDatabase(database, copy);
    const archive = await writeArchive(part);
    const done = await fillArchive(archive, order, steps, [
      { name: DATABASE, path: copy },
      ...files.map((id) => ({
        name: `${DATABASE_FILES}/${id}`,
        path: join(`${database}-files`, id),
      })),
    ]).catch(async (reason: unknown) => {
      await archive.abandon();
      throw reason;
    });
    renameSync(part, file);
    return { ...done, bytes: statSync(file).size };
  } catch (reason) {
    if (reason instanceof ParleyError) throw reason;
    throw new BackupError(
      'backup-unwritable',
      `The backup ${file} could not be written: ${reasonOf(reason)}. Nothing was left behind.`,
      reason,
    );
  }
}

async function fillArchive(
  archive: ArchiveWriter,
  { settingsFile, workspaces, dataFolder, clock, signal }: BackupOptions,
  steps: readonly number[],
  database: readonly NamedFile[],
) {
  const manifest: BackupManifest = {
    format: FORMAT,
    parley: packageJson.version,
    madeAt: clock(),
    steps: [...steps],
  };
  await archive.add('manifest.json', `${JSON.stringify(manifest, null, 2)}\n`);
  for (const file of database) await addFile(archive, file, signal);
  if (existsSync(settingsFile)) {
    await archive.add('settings/parley.yaml', readFileSync(settingsFile));
  }
  const folders = FOLDERS.map((name) => ({ name, path: join(dataFolder, name) }));
  const files = await addFiles(archive, [...workspaces, ...folders], signal);
  await archive.add('end.json', `${JSON.stringify(archive.digest(), null, 2)}\n`);
  await archive.end();
  return files;
}

interface NamedFile {
  /** The name of the file in the backup. */
  readonly name: string;
  readonly path: string;
}

/**
 * Adds all files of the given folders to the archive. `leftOut` lists the paths that are neither
 * files nor folders.
 */
async function addFiles(
  archive: ArchiveWriter,
  folders: readonly NamedFolder[],
  signal: AbortSignal | undefined,
) {
  let files = 0;
  const leftOut: string[] = [];
  const addFolder = async ({ name, path }: NamedFolder): Promise<void> => {
    for (const entry of listFolderEntries(path)) {
      const inside = { name: `${name}/${entry.name}`, path: join(path, entry.name) };
      if (entry.isDirectory()) await addFolder(inside);
      else if (!entry.isFile()) leftOut.push(inside.path);
      else if (await addFile(archive, inside, signal)) files += 1;
    }
  };
  for (const folder of folders) await addFolder(folder);
  return { files, leftOut };
}

/** Lists the entries of a folder, sorted; empty if the folder does not exist. */
function listFolderEntries(path: string): readonly Dirent[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (isMissingFile(error)) return [];
    throw error;
  }
}

/**
 * Returns false if the file was removed before it could be opened. A file that is removed after
 * opening is still read to its end.
 */
async function addFile(
  archive: ArchiveWriter,
  { name, path }: NamedFile,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  signal?.throwIfAborted();
  const file = await openIfExists(path);
  if (file === null) return false;
  try {
    const { size, mtime } = await file.stat();
    await archive.addStream(name, size, mtime, readBytes(file, size, path, signal));
    return true;
  } finally {
    await file.close();
  }
}

/**
 * Opens a file; returns null if it no longer exists, for example because an atomic write has just
 * renamed it.
 */
async function openIfExists(path: string): Promise<FileHandle | null> {
  try {
    return await open(path);
  } catch (error) {
    if (isMissingFile(error)) return null;
    throw error;
  }
}

/**
 * Yields the first `size` bytes of a file. Data appended while the file is read goes into the next
 * backup.
 */
async function* readBytes(
  file: FileHandle,
  size: number,
  path: string,
  signal: AbortSignal | undefined,
): AsyncIterable<Buffer> {
  let read = 0;
  if (size > 0) {
    for await (const chunk of file.createReadStream({ end: size - 1, autoClose: false })) {
      signal?.throwIfAborted();
      const bytes: Buffer = chunk;
      read += bytes.length;
      yield bytes;
    }
  }
  if (read < size) {
    const message = `${path} shrank while it was being read; run the backup again.`;
    throw new BackupError('backup-unwritable', message);
  }
}
