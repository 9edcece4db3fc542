import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '@parley/contracts';
import { type BackupRows, type RestoredStore, restoreStore } from '@parley/store/backup';
import { createDataFolder, type DataFolder } from '../data-folder.ts';
import { isShared } from '../process-role.ts';
import { readSettings } from '../read-settings.ts';
import { FOLDERS, type Manifest } from './archive-format.ts';
import { type CheckedBackup, checkBackup, manifestOf, rowsOf } from './check-backup.ts';
import {
  announceExchange,
  type Exchange,
  type ExchangePlan,
  type ExchangeResult,
  exchangeHere,
} from './exchange-files.ts';
import { readArchive } from './read-archive.ts';
import { stageFiles } from './stage-files.ts';
import { openWorkFolder, settingsBeside, tidyUp } from './work-folder.ts';

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
  const { file, folder, env } = order;
  const checked = await checkBackup(file);
  createDataFolder(folder);
  await tidyUp(folder, env);
  const usedSettings =
    checked.hasSettings && (order.withSettings || !existsSync(folder.settingsFile));
  const work = openWorkFolder(folder, 'restoring-');
  const staging = work.path;
  const settings = settingsBeside(folder, staging);
  try {
    await stageFiles(file, { folder: staging, settings: usedSettings ? settings : null });
    const done = await putBack(order, {
      checked,
      staging,
      settings: usedSettings ? settings : folder.settingsFile,
    });
    return { ...checked, ...done, usedSettings };
  } finally {
    // What is half exchanged is finished with it by the next start.
    if (!existsSync(folder.restoreMarker)) {
      rmSync(settings, { force: true });
      work.remove();
    }
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
  const stamp = new Date(clock()).toISOString().replaceAll(/\D/g, '');
  const exchanges = [
    ...(isOurs ? databaseFiles(folder, database) : []),
    ...stagedFolders(folder, settings.agent.workspace, staging),
    ...(settingsFile === folder.settingsFile
      ? []
      : [{ name: 'parley.yaml', path: folder.settingsFile, staged: settingsFile }]),
  ];
  const from = databasePath(folder);
  const plan: ExchangePlan = {
    file,
    staging,
    exchanges,
    newAside: join(folder.path, `before-restore-${stamp}`),
    carry: isOurs ? { from, to: database, unfinished, forget: READ_SO_FAR } : null,
    commit: null,
  };
  const store = await restoreStore({
    url: settings.store.url ?? `sqlite:${database}`,
    clock,
    schema: manifest,
    rows: rowsIn(file, manifest),
    unfinished,
    forget: READ_SO_FAR,
    beforeCommit: (transaction) =>
      announceExchange(folder, { ...plan, commit: { transaction, settings: settingsFile } }),
  });
  const { aside, carried } = exchange
    ? await exchange(plan, staging)
    : await exchangeHere(folder, plan);
  return { ...store, carried: carried ?? store.carried, asideFolder: aside };
}

/** Folders that the backup lacks are moved aside all the same. */
function stagedFolders(folder: DataFolder, workspace: string, staging: string): Exchange[] {
  const places = [
    { name: 'workspace', path: workspace },
    ...FOLDERS.map((name) => ({ name, path: join(folder.path, name) })),
  ];
  return places.map(({ name, path }) => {
    const staged = join(staging, name);
    return { name, path, staged: existsSync(staged) ? staged : null };
  });
}

function databasePath({ storeUrl }: DataFolder): string {
  return storeUrl.slice('sqlite:'.length);
}

/** What SQLite keeps beside the old file belongs to it. */
function databaseFiles(folder: DataFolder, staged: string): readonly Exchange[] {
  const path = databasePath(folder);
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
