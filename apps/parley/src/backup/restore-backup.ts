import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '@parley/contracts';
import { type BackupRows, type RestoredStore, restoreStore } from '@parley/store/backup';
import { createDataFolder, type DataFolder, lockDataFolder } from '../data-folder.ts';
import { isShared } from '../process-role.ts';
import { readSettings } from '../read-settings.ts';
import { FOLDERS, type Manifest } from './archive-format.ts';
import { type CheckedBackup, checkBackup, manifestOf, rowsOf } from './check-backup.ts';
import { type Exchange, type ExchangePlan, exchangeFiles } from './exchange-files.ts';
import { readArchive } from './read-archive.ts';
import { stageFiles } from './stage-files.ts';

/** What is put back, and where. */
export interface RestoreOrder {
  readonly file: string;
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  /** `go-on`: nothing has run since the backup was made, so what waits in it may be done. */
  readonly unfinished: 'hold' | 'go-on';
  /** The settings of the backup take the place of those that are there; where there are none they always do. */
  readonly withSettings: boolean;
  /** Who exchanges what is ready in `staging`; this process, where it is absent. */
  readonly exchange?: (plan: ExchangePlan, staging: string) => Promise<ExchangeResult>;
}

/** Where the files from before are; null when there were none. */
export interface ExchangeResult {
  readonly aside: string | null;
}

/** What is there now. `asideFolder`: the old files; `aside` the old tables on PostgreSQL. */
export interface RestoreDone extends RestoredStore, CheckedBackup {
  readonly asideFolder: string | null;
  readonly usedSettings: boolean;
}

/**
 * How far adapters had read, where they ask the platform for what came later: that was answered before the
 * restore, and would be once more.
 */
const READ_SO_FAR = [{ channel: 'discord', kind: 'seen' }];

/**
 * Puts a backup back. The backup is read through first; the new state is made beside the old one, which is
 * moved aside in the end. Throws BackupError, StoreError or CliError, having changed nothing.
 */
export async function restoreBackup(order: RestoreOrder): Promise<RestoreDone> {
  const { file, folder } = order;
  const checked = await checkBackup(file);
  createDataFolder(folder);
  const usedSettings =
    checked.hasSettings && (order.withSettings || !existsSync(folder.settingsFile));
  const staging = mkdtempSync(join(folder.path, 'restoring-'));
  // Beside its place, since what it says of folders is meant from there.
  const settings = join(dirname(folder.settingsFile), `.${basename(staging)}.yaml`);
  try {
    await stageFiles(file, { folder: staging, settings: usedSettings ? settings : null });
    const done = await putBack(order, {
      checked,
      staging,
      settings: usedSettings ? settings : folder.settingsFile,
    });
    return { ...checked, ...done, usedSettings };
  } finally {
    rmSync(staging, { recursive: true, force: true });
    rmSync(settings, { force: true });
  }
}

interface Prepared {
  readonly checked: CheckedBackup;
  readonly staging: string;
  readonly settings: string;
}

async function putBack(
  { file, folder, env, clock, unfinished, exchange }: RestoreOrder,
  { checked: { manifest }, staging, settings: settingsFile }: Prepared,
): Promise<RestoredStore & Pick<RestoreDone, 'asideFolder'>> {
  const { settings } = readSettings({ ...folder, settingsFile }, env);
  const isOurs = !isShared(settings);
  const database = join(staging, 'parley.db');
  const store = await restoreStore({
    url: settings.store.url ?? `sqlite:${database}`,
    clock,
    schema: manifest,
    rows: rowsIn(file, manifest),
    unfinished,
    forget: READ_SO_FAR,
  });
  const stamp = new Date(clock()).toISOString().slice(0, 19).replaceAll(/\D/g, '');
  const exchanges = [
    ...(isOurs ? databaseFiles(folder, database) : []),
    { name: 'workspace', path: settings.agent.workspace, staged: join(staging, 'workspace') },
    ...FOLDERS.map((name) => ({
      name,
      path: join(folder.path, name),
      staged: join(staging, name),
    })),
    ...(settingsFile === folder.settingsFile
      ? []
      : [{ name: 'parley.yaml', path: folder.settingsFile, staged: settingsFile }]),
  ];
  const plan = { file, exchanges, newAside: join(folder.path, `before-restore-${stamp}`) };
  const { aside } = exchange
    ? await exchange(plan, staging)
    : exchangeHere(folder, plan, isOurs ? 'locked' : 'shared');
  return { ...store, asideFolder: aside };
}

/** Exchanges in this process; a folder with a database in it must be nobody else's meanwhile. */
export function exchangeHere(
  folder: DataFolder,
  plan: ExchangePlan,
  how: 'locked' | 'shared',
): ExchangeResult {
  const lock = how === 'locked' ? lockDataFolder(folder) : null;
  try {
    return exchangeFiles(folder, plan);
  } finally {
    lock?.release();
  }
}

/** What SQLite keeps beside the old file belongs to it. */
function databaseFiles(folder: DataFolder, staged: string): readonly Exchange[] {
  const path = folder.storeUrl.slice('sqlite:'.length);
  return ['', '-wal', '-shm'].map((end) => ({
    name: `parley.db${end}`,
    path: `${path}${end}`,
    staged: end === '' ? staged : null,
  }));
}

async function* rowsIn(file: string, manifest: Manifest): AsyncIterable<BackupRows> {
  for await (const entry of readArchive(file)) {
    if (entry.name === 'manifest.json') await manifestOf(file, entry);
    else if (entry.name.startsWith('database/')) yield await rowsOf(file, entry, manifest);
  }
}
