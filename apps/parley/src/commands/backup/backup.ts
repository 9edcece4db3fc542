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
import { join, resolve } from 'node:path';
import { type Clock, countOf, ParleyError, reasonOf, systemTime } from '@parley/core';
import { openSnapshot, type StoreSnapshot } from '@parley/store/backup';
import packageJson from '../../../package.json' with { type: 'json' };
import type { Cli } from '../../cli.ts';
import { readSettings } from '../../settings.ts';
import { abortOnSignal } from '../../terminal/interrupt.ts';
import { type ArchiveWriter, BackupError, type End, writeArchive } from './archive.ts';
import { FOLDERS, FORMAT, lineOf, type Manifest, type Place, workspacePlaces } from './contents.ts';
import { openWorkFolder, removeLeftovers } from './exchange.ts';

/**
 * `parley backup FILE`: reads the database by itself, so a running gateway is not disturbed. A signal ends
 * it with 130 and leaves no file; what a killed one left, the next backup or start removes.
 */
export async function backup({ folder, env, print }: Cli, name: string): Promise<number> {
  const loaded = readSettings(folder, env);
  const file = resolve(name);
  const ended = new AbortController();
  using interrupted = abortOnSignal(ended);
  const making = makeBackup({
    file,
    storeUrl: loaded.settings.store.url ?? folder.storeUrl,
    settingsFile: folder.settingsFile,
    workspaces: workspacePlaces(loaded, folder.path),
    dataFolder: folder.path,
    clock: systemTime.clock,
    signal: ended.signal,
  });
  const done = await making.catch((error: unknown) => {
    if (interrupted.yes) return null;
    throw error;
  });
  if (done === null) {
    print(`The backup was interrupted; ${file} was not written.`);
    return 130;
  }
  const size = (done.bytes / 1_000_000).toFixed(1);
  print(`${file}: ${countOf(done.rows, 'row')} and ${countOf(done.files, 'file')}, ${size} MB.`);
  for (const path of done.leftOut) print(`Left out, since it is neither file nor folder: ${path}`);
  print(SECRETS);
  return 0;
}

const SECRETS = `It holds everything that people wrote, the credentials of WhatsApp, and what the settings say in the clear.
Keep it where only you can read it. Variables and files that the settings refer to are not in it, nor is the token of the page.`;

/** Lines of a table are gathered into entries of about this size. */
const ENTRY_BYTES = 1024 * 1024;

interface BackupOrder {
  readonly file: string;
  readonly storeUrl: string;
  readonly settingsFile: string;
  readonly workspaces: readonly Place[];
  readonly dataFolder: string;
  readonly clock: Clock;
  /** Once it fires, the backup is given up at its next row or file. */
  readonly signal?: AbortSignal;
}

/**
 * Writes everything into one file, while Parley runs or not. It appears under its name when it is
 * complete. Throws BackupError or StoreError; then nothing is left behind.
 */
export async function makeBackup(order: BackupOrder) {
  const { file } = order;
  if (existsSync(file)) {
    throw new BackupError('backup-exists', `${file} exists already. Name another file.`);
  }
  const part = `${file}.part`;
  rmSync(part, { force: true });
  if (existsSync(order.dataFolder)) removeLeftovers({ path: order.dataFolder }, 'backing-up-');
  // Names it for the next start, should this process be killed.
  const work = existsSync(order.dataFolder)
    ? openWorkFolder({ path: order.dataFolder }, 'backing-up-', part)
    : null;
  try {
    await using snapshot = await openSnapshot(order.storeUrl);
    const archive = await writeArchive(part);
    const done = await fill(archive, snapshot, order).catch(async (reason: unknown) => {
      await archive.abandon();
      throw reason;
    });
    renameSync(part, file);
    return { ...done, bytes: statSync(file).size };
  } catch (reason) {
    rmSync(part, { force: true });
    if (reason instanceof ParleyError) throw reason;
    throw new BackupError(
      'backup-unwritable',
      `The backup ${file} could not be written: ${reasonOf(reason)}. Nothing was left behind.`,
      reason,
    );
  } finally {
    work?.remove();
  }
}

async function fill(
  archive: ArchiveWriter,
  snapshot: StoreSnapshot,
  { settingsFile, workspaces, dataFolder, clock, signal }: BackupOrder,
) {
  const { dialect, steps, tables, counters } = snapshot;
  const manifest: Manifest = {
    format: FORMAT,
    parley: packageJson.version,
    madeAt: clock(),
    dialect,
    steps: [...steps],
    tables: tables.map(({ name, columns }) => ({ name, columns: [...columns] })),
    counters: { ...counters },
  };
  await archive.add('manifest.json', `${JSON.stringify(manifest, null, 2)}\n`);
  const rows = await addRows(archive, snapshot, signal);
  if (existsSync(settingsFile)) {
    await archive.add('settings/parley.yaml', readFileSync(settingsFile));
  }
  const folders = FOLDERS.map((name) => ({ name, path: join(dataFolder, name) }));
  const files = await addFiles(archive, [...workspaces, ...folders], signal);
  const end: End = { ...archive.digest(), rows };
  await archive.add('end.json', `${JSON.stringify(end, null, 2)}\n`);
  await archive.end();
  return { ...files, rows: Object.values(rows).reduce((sum, count) => sum + count, 0) };
}

async function addRows(
  archive: ArchiveWriter,
  snapshot: StoreSnapshot,
  signal: AbortSignal | undefined,
): Promise<Record<string, number>> {
  const counts = Object.fromEntries(snapshot.tables.map(({ name }) => [name, 0]));
  let lines: string[] = [];
  let size = 0;
  let number = 0;
  let of = '';
  const flush = async (): Promise<void> => {
    if (lines.length === 0) return;
    number += 1;
    await archive.add(`database/${of}/${String(number).padStart(6, '0')}.ndjson`, lines.join(''));
    lines = [];
    size = 0;
  };
  for await (const { table, rows } of snapshot.rows()) {
    signal?.throwIfAborted();
    if (table.name !== of) {
      await flush();
      of = table.name;
      number = 0;
    }
    counts[of] = (counts[of] ?? 0) + rows.length;
    for (const row of rows) {
      const line = lineOf(row);
      lines.push(line);
      size += line.length;
      if (size >= ENTRY_BYTES) await flush();
    }
  }
  await flush();
  return counts;
}

/** Puts all files of these folders into the archive. `leftOut`: what is neither file nor folder. */
async function addFiles(
  archive: ArchiveWriter,
  folders: readonly Place[],
  signal: AbortSignal | undefined,
) {
  let files = 0;
  const leftOut: string[] = [];
  const addFolder = async ({ name, path }: Place): Promise<void> => {
    for (const entry of entriesOf(path)) {
      const inside = { name: `${name}/${entry.name}`, path: join(path, entry.name) };
      if (entry.isDirectory()) await addFolder(inside);
      else if (!entry.isFile()) leftOut.push(inside.path);
      else if (await addFile(archive, inside, signal)) files += 1;
    }
  };
  for (const folder of folders) await addFolder(folder);
  return { files, leftOut };
}

/** None of a folder that is not there, or not any more. */
function entriesOf(path: string): readonly Dirent[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** False for a file that was removed meanwhile. One that is removed later is read to its end all the same. */
async function addFile(
  archive: ArchiveWriter,
  { name, path }: Place,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  signal?.throwIfAborted();
  const file = await openPresent(path);
  if (file === null) return false;
  try {
    const { size, mtime } = await file.stat();
    await archive.addStream(name, size, mtime, bytesOf(file, size, path, signal));
    return true;
  } finally {
    await file.close();
  }
}

/** Null where there is no such file any more, like one that an atomic write has just renamed. */
async function openPresent(path: string): Promise<FileHandle | null> {
  try {
    return await open(path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** The first `size` bytes: what is appended while they are read belongs to the next backup. */
async function* bytesOf(
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
    const message = `${path} became shorter while it was read; make the backup again.`;
    throw new BackupError('backup-unwritable', message);
  }
}
