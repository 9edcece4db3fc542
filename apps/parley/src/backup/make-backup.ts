import { existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, ParleyError, reasonOf } from '@parley/contracts';
import { openSnapshot, type StoreSnapshot } from '@parley/store/backup';
import packageJson from '../../package.json' with { type: 'json' };
import { type End, FOLDERS, FORMAT, lineOf, type Manifest } from './archive-format.ts';
import { addFiles, type BackedUpFiles } from './backed-up-files.ts';
import { BackupError } from './backup-error.ts';
import { openWorkFolder } from './work-folder.ts';
import { type ArchiveWriter, writeArchive } from './write-archive.ts';

/** Lines of a table are gathered into entries of about this size. */
const ENTRY_BYTES = 1024 * 1024;

/** What is backed up, and into which file. */
export interface BackupOrder {
  readonly file: string;
  readonly storeUrl: string;
  readonly settingsFile: string;
  readonly workspace: string;
  readonly dataFolder: string;
  readonly clock: Clock;
}

/** What the file holds. */
export interface BackupDone extends BackedUpFiles {
  readonly rows: number;
  readonly bytes: number;
}

/**
 * Writes everything into one file, while Parley runs or not. It appears under its name when it is
 * complete. Throws BackupError or StoreError; then nothing is left behind.
 */
export async function makeBackup(order: BackupOrder): Promise<BackupDone> {
  const { file } = order;
  if (existsSync(file)) {
    throw new BackupError('backup-exists', `${file} exists already. Name another file.`);
  }
  const part = `${file}.part`;
  rmSync(part, { force: true });
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
  { settingsFile, workspace, dataFolder, clock }: BackupOrder,
): Promise<Omit<BackupDone, 'bytes'>> {
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
  const rows = await addRows(archive, snapshot);
  if (existsSync(settingsFile)) {
    await archive.add('settings/parley.yaml', readFileSync(settingsFile));
  }
  const folders = FOLDERS.map((name) => ({ name, path: join(dataFolder, name) }));
  const files = await addFiles(archive, [{ name: 'workspace', path: workspace }, ...folders]);
  const end: End = { ...archive.digest(), rows };
  await archive.add('end.json', `${JSON.stringify(end, null, 2)}\n`);
  await archive.end();
  return { ...files, rows: Object.values(rows).reduce((sum, count) => sum + count, 0) };
}

/** How many rows each table has. */
async function addRows(
  archive: ArchiveWriter,
  snapshot: StoreSnapshot,
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
