import { createWriteStream, existsSync, mkdirSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '@parley/core';
import {
  carryOverFile,
  copyToPostgres,
  createDatabaseFromRows,
  prepareRestoredDatabase,
  refuseNonEmptyPostgres,
} from '@parley/store/backup';
import { CliError, createDataFolder, type DataFolder, lockDataFolder } from '../../data-folder.ts';
import { READ_SO_FAR } from '../../database-mark.ts';
import { getSecretPath } from '../../secret-files.ts';
import { type LoadedSettings, readSettings } from '../../settings.ts';
import { readArchive } from './archive.ts';
import {
  type CheckedBackup,
  DATABASE_NAME,
  FOLDERS,
  getEntryKind,
  listWorkspaceFolders,
  readBackupRows,
} from './contents.ts';
import {
  finishReplacing,
  type Replacement,
  readRestoreMarker,
  replaceFiles,
} from './put-in-place.ts';
import type { RestoreResult } from './restore-text.ts';
import { openWorkFolder, removeAbandonedFolders } from './work-folder.ts';

export interface RestoreOptions {
  readonly backup: CheckedBackup;
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  /**
   * `go-on` resumes the unfinished work in the backup, which is safe only because the installation
   * has not run since then.
   */
  readonly unfinished: 'hold' | 'go-on';
  /**
   * Whether to replace existing settings with the ones from the backup. Missing settings are always
   * restored.
   */
  readonly withSettings: boolean;
  /** Asks the process that holds the data folder to stop. Called when all files are staged. */
  readonly endGateway?: () => Promise<void>;
}

/**
 * Restores a verified backup. The new state is staged beside the old state, which is moved aside at
 * the end. If it throws BackupError, StoreError or CliError, nothing was changed unless the message
 * says otherwise.
 */
export async function restoreBackup(order: RestoreOptions): Promise<RestoreResult> {
  const { backup, folder, env, clock, unfinished, endGateway } = order;
  createDataFolder(folder);
  removeAbandonedFolders(folder.path);
  using work = openWorkFolder(folder.path, 'restoring-');
  const usedSettings =
    backup.hasSettings && (order.withSettings || !existsSync(folder.settingsFile));
  const settingsFile = usedSettings
    ? getStagedSettingsPath(folder, work.path)
    : folder.settingsFile;
  if (usedSettings) work.alsoRemove(settingsFile);
  await stageFiles(backup.file, work.path, usedSettings ? settingsFile : null);
  const database = join(work.path, DATABASE_NAME);
  const { manifest } = backup;
  if (manifest.format === 1)
    await createDatabaseFromRows(database, manifest, readBackupRows(backup.file, manifest), clock);
  const held = await prepareRestoredDatabase({
    path: database,
    clock,
    unfinished,
    forget: READ_SO_FAR,
  });
  const loaded = readSettings(
    { ...folder, settingsFile },
    env,
    undefined,
    createMissingKey(folder),
  );
  const { url } = loaded.settings.store;
  if (url !== undefined) await refuseNonEmptyPostgres(url);
  await endGateway?.();
  const lock = await lockWhenFree(folder, endGateway === undefined ? 0 : ENDS_WITHIN_MS);
  try {
    const others = [
      ...listStagedFolders(folder, loaded, work.path),
      ...(usedSettings
        ? [{ name: 'parley.yaml', path: folder.settingsFile, staged: settingsFile }]
        : []),
    ];
    const done = await replaceState(order, database, url, others);
    const missingSecrets = loaded.files.filter((file) => !existsSync(file));
    return { backup, held, usedSettings, missingSecrets, ...done };
  } finally {
    lock.release();
  }
}

/**
 * Creates a function that returns a placeholder for keys in `secrets/`. Backups do not contain
 * keys, so the keys are missing on a new machine; the restore must succeed without them. The
 * placeholder is long enough to pass the length check of every secret.
 */
function createMissingKey(folder: DataFolder): (file: string) => string | undefined {
  const own = getSecretPath(folder, '') + sep;
  return (file) => (file.startsWith(own) ? '-'.repeat(64) : undefined);
}

/**
 * Replaces the current state with the staged state. Unfinished work in the old database is carried
 * over, unless the target is PostgreSQL, which must be empty.
 */
async function replaceState(
  { folder, clock, unfinished }: RestoreOptions,
  database: string,
  url: string | undefined,
  others: readonly Replacement[],
): Promise<Pick<RestoreResult, 'carried' | 'aside'>> {
  const aside =
    readRestoreMarker(folder)?.aside ?? join(folder.path, `before-restore-${formatStamp(clock())}`);
  // An interrupted restore may already have moved the old database aside.
  const moved = join(aside, DATABASE_NAME);
  const before = existsSync(moved) ? moved : getDatabasePath(folder);
  let carried: RestoreResult['carried'] = null;
  if (url === undefined) {
    if (existsSync(before)) {
      carried = await carryOverFile(database, before, { unfinished, forget: READ_SO_FAR });
    }
    replaceFiles(folder, [...listDatabaseFiles(folder, database), ...others], aside);
  } else {
    const all = [...listDatabaseFiles(folder, null), ...others];
    // The files are replaced before the database commit, while the marker file keeps other
    // processes from starting.
    await copyToPostgres(database, url, clock, () => replaceFiles(folder, all, aside));
  }
  finishReplacing(folder);
  return { carried, aside: existsSync(aside) ? aside : null };
}

/**
 * How long (ms) to wait for the gateway to stop. Stopping takes up to 10 s (D11), or longer on a
 * busy machine.
 */
const ENDS_WITHIN_MS = 60_000;
const POLL_INTERVAL_MS = 50;

/**
 * Waits until the process that holds the data folder has ended, and then locks the folder. Throws
 * CliError `data-locked` after `withinMs`.
 */
async function lockWhenFree(folder: DataFolder, withinMs: number): Promise<{ release(): void }> {
  for (let left = withinMs; ; left -= POLL_INTERVAL_MS) {
    try {
      return lockDataFolder(folder);
    } catch (error) {
      const isHeld = error instanceof CliError && error.code === 'data-locked';
      if (!isHeld || left <= 0) throw error;
      await sleep(POLL_INTERVAL_MS);
    }
  }
}

function formatStamp(time: number): string {
  return new Date(time).toISOString().replaceAll(/\D/g, '');
}

/**
 * Returns the path at which the settings are staged. They are staged beside their final location
 * because they may contain relative paths.
 */
function getStagedSettingsPath({ settingsFile }: DataFolder, staging: string): string {
  return join(dirname(settingsFile), `.${basename(staging)}.yaml`);
}

function getDatabasePath({ storeUrl }: DataFolder): string {
  return storeUrl.slice('sqlite:'.length);
}

/**
 * Lists the database files to replace. The old database's auxiliary SQLite files are moved first,
 * because they would corrupt the new database. With PostgreSQL, `staged` is null; the old SQLite
 * file is still moved aside, because its unfinished work would be repeated if it were used again.
 */
function listDatabaseFiles(folder: DataFolder, staged: string | null): readonly Replacement[] {
  const path = getDatabasePath(folder);
  return ['-wal', '-shm', '', '-files'].map((end) => ({
    name: `${DATABASE_NAME}${end}`,
    path: `${path}${end}`,
    staged: staged !== null && existsSync(`${staged}${end}`) ? `${staged}${end}` : null,
  }));
}

/** Lists the folders to replace. Folders that are missing from the backup are only moved aside. */
function listStagedFolders(
  folder: DataFolder,
  loaded: LoadedSettings,
  staging: string,
): readonly Replacement[] {
  const places = [
    ...listWorkspaceFolders(loaded, folder.path),
    ...FOLDERS.map((name) => ({ name, path: join(folder.path, name) })),
  ];
  return places.map(({ name, path }) => {
    const staged = join(staging, name);
    return { name, path, staged: existsSync(staged) ? staged : null };
  });
}

/** `settings` is the path of the restored settings; null if the settings are not restored. */
async function stageFiles(file: string, folder: string, settings: string | null): Promise<void> {
  for await (const entry of readArchive(file)) {
    const is = getEntryKind(entry.name);
    if (is?.kind === 'settings' && settings !== null) await writeChunks(settings, entry.chunks());
    if (is?.kind === 'file') await writeChunks(join(folder, is.folder, ...is.path), entry.chunks());
  }
}

async function writeChunks(path: string, chunks: AsyncIterable<Buffer>): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  await pipeline(chunks, createWriteStream(path, { mode: 0o600, flush: true }));
}
