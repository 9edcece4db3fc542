import { accessSync, constants, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { reasonOf } from '@parley/contracts';
import { CliError } from './cli-error.ts';
import { commandLine } from './command-line.ts';
import { findInstance } from './instance-file.ts';

/** Where everything an installation keeps is found. All paths are absolute. */
export interface DataFolder {
  readonly path: string;
  readonly settingsFile: string;
  readonly storeUrl: string;
  readonly workspace: string;
  /** With a slash at its end. */
  readonly profiles: string;
  /** What a running gateway writes for `parley status` and `parley chat`. */
  readonly instanceFile: string;
  readonly tokenFile: string;
  /** How far sends were when the gateway of this folder was last alive. */
  readonly sendNotes: string;
  /** There while a restore is exchanging the files. */
  readonly restoreMarker: string;
}

/** Where the data folder is when nobody says otherwise. */
export function defaultDataFolder(): string {
  return join(homedir(), '.parley');
}

/** Finds the data folder: `--data`, else `PARLEY_HOME`, else `~/.parley`. Touches nothing. */
export function locateDataFolder(flag: string | undefined, env: NodeJS.ProcessEnv): DataFolder {
  const path = resolve(flag ?? (env.PARLEY_HOME || defaultDataFolder()));
  return {
    path,
    settingsFile: join(path, 'parley.yaml'),
    storeUrl: `sqlite:${join(path, 'parley.db')}`,
    workspace: join(path, 'workspace'),
    profiles: join(path, 'profiles/'),
    instanceFile: join(path, 'gateway.json'),
    tokenFile: join(path, 'token'),
    sendNotes: join(path, 'sending'),
    restoreMarker: join(path, 'restore-unfinished.json'),
  };
}

/** Creates the folder, readable by its owner alone. Throws CliError when it cannot be written. */
export function createDataFolder(folder: DataFolder): void {
  try {
    makeFolder(folder.path);
    accessSync(folder.path, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw unwritable(folder, error);
  }
}

/**
 * Step by step, because Node's recursive `mkdir` never returns where the system answers "no such
 * file" although the parent is there, as it does below /proc.
 */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

/**
 * Takes the folder for this process alone until it ends, however it ends: the operating system drops
 * the lock of a killed process. Throws CliError when another process has it.
 */
export function lockDataFolder(folder: DataFolder): { release(): void } {
  try {
    return lockFolder(folder.path);
  } catch (error) {
    throw isBusy(error) ? locked(folder, error) : unwritable(folder, error);
  }
}

/** Takes any folder so. Throws what SQLite throws; `isBusy` tells whether another process has it. */
export function lockFolder(path: string): { release(): void } {
  const lock = new DatabaseSync(join(path, 'lock'), { timeout: 0 });
  try {
    lock.exec('pragma locking_mode = exclusive; begin exclusive');
  } catch (error) {
    lock.close();
    throw error;
  }
  return { release: () => lock.close() };
}

const SQLITE_BUSY = 5;

export function isBusy(thrown: unknown): boolean {
  return thrown instanceof Error && 'errcode' in thrown && thrown.errcode === SQLITE_BUSY;
}

function locked(folder: DataFolder, cause: unknown): CliError {
  const instance = findInstance(folder);
  const holder = instance ? ` (process ${instance.pid} at ${instance.address})` : '';
  return new CliError(
    'data-locked',
    `Another Parley is running on ${folder.path}${holder}. Stop it first, talk to it with "${commandLine('chat', folder)}", or choose another folder with --data FOLDER.`,
    cause,
  );
}

/** Whether a backup or a restore was cut off here, or is at work. */
export function hasUnfinishedWork(folder: DataFolder): boolean {
  return readdirSync(folder.path).some((name) =>
    /^(restoring-|backing-up-|restore-unfinished)/.test(name),
  );
}

function unwritable(folder: DataFolder, cause: unknown): CliError {
  return new CliError(
    'data-unwritable',
    `Parley cannot write in its data folder ${folder.path} (${reasonOf(cause)}). Make it writable, or choose another one with --data FOLDER.`,
    cause,
  );
}

/** Differs whenever the file was written or replaced, wherever it lies. */
export function printOf(file: string): string {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    return stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
  } catch (error) {
    // Reading it says the same, in the log.
    return reasonOf(error);
  }
}
