import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { commitFate } from '@parley/store/backup';
import { type DataFolder, isBusy, lockDataFolder, lockFolder } from '../data-folder.ts';
import { readSettings } from '../read-settings.ts';
import { BackupError } from './backup-error.ts';
import { type ExchangePlan, exchangeFiles, unfinishedExchange } from './exchange-files.ts';
import { leaveWord } from './restore-here.ts';

/** A folder in the data folder that lasts as long as a backup or a restore. */
export interface WorkFolder {
  readonly path: string;
  remove(): void;
}

/** In a work folder: the name of an unfinished file that lies elsewhere. */
const ELSEWHERE = 'part';

/** Makes one and locks it, so that others know whether its process lives. `part`: a file to remove with it. */
export function openWorkFolder(
  folder: Pick<DataFolder, 'path'>,
  prefix: 'restoring-' | 'backing-up-',
  part?: string,
): WorkFolder {
  const path = mkdtempSync(join(folder.path, prefix));
  const lock = lockFolder(path);
  if (part !== undefined) writeFileSync(join(path, ELSEWHERE), part);
  return {
    path,
    remove() {
      lock.release();
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Where a restore puts settings: beside their place, since what they say of folders is meant from there. */
export function settingsBeside(folder: DataFolder, staging: string): string {
  return join(dirname(folder.settingsFile), `.${basename(staging)}.yaml`);
}

/**
 * Cleans up after a backup or restore that was killed: an exchange that had begun is finished, so that all
 * is of the restored state; before that, all is as it was. Then the leftovers are removed, but not those of
 * a process that is at work. Throws BackupError where an exchange cannot be finished.
 */
export async function tidyUp(folder: DataFolder, env: NodeJS.ProcessEnv): Promise<void> {
  const plan = unfinishedExchange(folder);
  if (plan !== null) await finish(folder, plan, env);
  rmSync(`${folder.restoreMarker}.part`, { force: true });
  for (const name of readdirSync(folder.path)) {
    if (!/^(restoring|backing-up)-\w+$/.test(name)) continue;
    const path = join(folder.path, name);
    const lock = lockIfDead(path);
    if (lock === null) continue;
    const part = join(path, ELSEWHERE);
    if (existsSync(part)) rmSync(readFileSync(part, 'utf8'), { force: true });
    rmSync(settingsBeside(folder, path), { force: true });
    lock.release();
    rmSync(path, { recursive: true, force: true });
  }
}

function lockIfDead(path: string): { release(): void } | null {
  try {
    return lockFolder(path);
  } catch (error) {
    if (isBusy(error)) return null;
    throw error;
  }
}

async function finish(
  folder: DataFolder,
  plan: ExchangePlan,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  if (!existsSync(plan.staging)) {
    throw unfinished(
      folder,
      `was cut off, and ${plan.staging} is gone. What was there before is in ${plan.newAside}: put it back by hand, remove ${folder.restoreMarker}, and run the restore once more`,
    );
  }
  // Who exchanges a database has the data folder; who exchanges files beside it, its own folder.
  const lock = plan.carry === null ? lockIfDead(plan.staging) : lockDataFolder(folder);
  if (lock === null) throw unfinished(folder, 'is running. Start again when it is done');
  try {
    if (plan.commit !== null && !(await isCommitted(folder, plan.commit, env))) {
      rmSync(folder.restoreMarker);
      return;
    }
    const { aside } = exchangeFiles(folder, plan);
    if (plan.id !== undefined) {
      leaveWord(folder, { id: plan.id, aside, carried: null, error: null });
    }
  } finally {
    lock.release();
  }
}

const LOOK_EVERY_MS = 250;
/** The server notices within a second that the restore is dead. */
const LOOKS = 60;

async function isCommitted(
  folder: DataFolder,
  { transaction, settings: settingsFile }: NonNullable<ExchangePlan['commit']>,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  const { settings } = readSettings({ ...folder, settingsFile }, env);
  for (let look = 0; look < LOOKS; look += 1) {
    const fate = await commitFate(settings.store.url ?? '', transaction);
    if (fate === 'committed' || fate === 'aborted') return fate === 'committed';
    if (fate === null) break;
    await wait(LOOK_EVERY_MS);
  }
  throw unfinished(
    folder,
    `was cut off, and PostgreSQL does not say whether its tables were exchanged. Look into ${folder.restoreMarker}, remove it, and run the restore once more`,
  );
}

function unfinished(folder: DataFolder, what: string): BackupError {
  return new BackupError('restore-unfinished', `A restore on ${folder.path} ${what}.`);
}
