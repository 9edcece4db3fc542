import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir, hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ParleyError, reasonOf } from '@parley/core';
import { configPath, installationKind } from '@parley/core/installation';
import { z } from 'zod';

/** The files and folders of an installation. All paths are absolute. */
export interface DataFolder {
  readonly path: string;
  readonly settingsFile: string;
  readonly storeUrl: string;
  readonly workspace: string;
  /** With a slash at its end. */
  readonly profiles: string;
  /** The file of a running gateway for `parley status` and `parley chat`. */
  readonly instanceFile: string;
  readonly tokenFile: string;
  /** The progress of sends when the gateway of this folder was last alive. */
  readonly sendNotes: string;
  /** The current work of each process, for the next one if it does not end in order. */
  readonly working: string;
  /** The last log lines of each process. */
  readonly logs: string;
  /** The mark of the last seen state of the database, which is never behind it. */
  readonly databaseMark: string;
  /** There while a restore replaces the files. */
  readonly restoreMarker: string;
}

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
    working: join(path, 'working'),
    logs: join(path, 'logs'),
    databaseMark: join(path, 'database.json'),
    restoreMarker: join(path, 'restore-unfinished.json'),
  };
}

/** Creates the folder, readable by its owner alone. Throws CliError when it cannot be written. */
export function createDataFolder(folder: DataFolder): void {
  try {
    makeFolder(folder.path);
    accessSync(folder.path, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw unwritableError(folder, error);
  }
}

/** Step by step: below /proc the recursive `mkdir` of Node never returns. */
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
    throw isDatabaseBusy(error) ? lockedError(folder, error) : unwritableError(folder, error);
  }
}

/** Takes any folder so. Throws what SQLite throws; `isDatabaseBusy` says whether another process has it. */
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

export function isDatabaseBusy(thrown: unknown): boolean {
  return thrown instanceof Error && 'errcode' in thrown && thrown.errcode === SQLITE_BUSY;
}

function lockedError(folder: DataFolder, cause: unknown): CliError {
  const instance = findInstance(folder);
  const holder = instance ? ` (process ${instance.pid} at ${instance.address})` : '';
  return new CliError(
    'data-locked',
    `Another Parley is running on ${folder.path}${holder}. Stop it first, talk to it with "${commandLine('chat', folder)}", or choose another folder with --data FOLDER.`,
    cause,
  );
}

/** Whether a backup or a restore was killed here, or is at work. */
export function hasUnfinishedWork(folder: DataFolder): boolean {
  return readdirSync(folder.path).some((name) =>
    /^(restoring-|backing-up-|restore-unfinished)/.test(name),
  );
}

function unwritableError(folder: DataFolder, cause: unknown): CliError {
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

const PROGRAM = { clone: 'npm run parley --', global: 'parley', project: 'npx parley' } as const;

/** A command as a person types it where Parley was installed, with `--data` where it is needed. */
export function commandLine(command: string, folder: Pick<DataFolder, 'path'>): string {
  const data = folder.path === defaultDataFolder() ? '' : ` --data ${quotePath(folder.path)}`;
  return `${PROGRAM[installationKind()]} ${command}${data}`;
}

function quotePath(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

/** The note by which commands of another terminal find the gateway that runs on a data folder. */
const Instance = z.object({
  pid: z.int(),
  address: z.url(),
  host: z.string().exactOptional(),
  /** The settings file that it was started with. */
  settings: z.string().exactOptional(),
});
export type Instance = z.infer<typeof Instance>;

/**
 * Says where the gateway of this process is reached; returns what ends that, unless another gateway on the same
 * folder has come since.
 */
export function announceOwnGateway(folder: DataFolder, address: string): () => void {
  const { instanceFile, settingsFile: settings } = folder;
  const instance: Instance = { pid: process.pid, address, host: hostname(), settings };
  const line = `${JSON.stringify(instance)}\n`;
  writeFileSync(instanceFile, line, { mode: 0o600 });
  return () => {
    if (existsSync(instanceFile) && readFileSync(instanceFile, 'utf8') === line)
      rmSync(instanceFile);
  };
}

/** The running gateway of a data folder, or null: a file left by a killed process does not count. */
export function findInstance(folder: DataFolder): Instance | null {
  try {
    const parsed = Instance.safeParse(JSON.parse(readFileSync(folder.instanceFile, 'utf8')));
    if (!parsed.success) return null;
    const { pid, host = hostname() } = parsed.data;
    // On another machine that shares the folder the number belongs to another process.
    return host === hostname() && isAlive(pid) ? parsed.data : null;
  } catch {
    // No file, or half a file of a process that was killed while writing it: no process holds the folder.
    return null;
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

type TokenFile = Pick<DataFolder, 'tokenFile'>;

/** Shorter ones are halves. */
const MIN_KEY_LENGTH = 32;

/** The token of the page and the API; made at the first start, readable by its owner alone. */
export function readOrMakeToken(folder: TokenFile): string {
  const token = readToken(folder);
  if (token === null) return replaceToken(folder);
  chmodSync(folder.tokenFile, 0o600);
  return token;
}

export function readToken({ tokenFile }: TokenFile): string | null {
  if (!existsSync(tokenFile)) return null;
  const token = readFileSync(tokenFile, 'utf8').trim();
  return token.length >= MIN_KEY_LENGTH ? token : null;
}

/** Makes another token. In one step: a process that reads the file finds the old one or the new one. */
export function replaceToken({ tokenFile }: TokenFile): string {
  const token = randomBytes(24).toString('base64url');
  const draft = `${tokenFile}.${randomBytes(4).toString('hex')}`;
  try {
    writeFileSync(draft, `${token}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(draft, tokenFile);
  } finally {
    rmSync(draft, { force: true });
  }
  return token;
}

/** The token as it is when it is asked for: `parley token rotate` of another process counts at once. */
export function liveToken(folder: TokenFile): () => string {
  let token = readOrMakeToken(folder);
  let seen = printOf(folder.tokenFile);
  return () => {
    const print = printOf(folder.tokenFile);
    if (print !== seen) {
      seen = print;
      // A missing file grants nothing and locks no process out.
      token = readToken(folder) ?? token;
    }
    return token;
  };
}

/** Something a person typed or asked for that cannot be done; shown without a stack trace. */
export class CliError extends ParleyError {
  constructor(code: string, message: string, cause?: unknown) {
    super({ code, message, retryable: false, cause });
  }
}

/** Options or arguments that do not go together, or have no such value: exit code 2, and the help is named. */
export class UsageError extends CliError {
  constructor(message: string) {
    super('usage', message);
  }
}

export const WORKSPACE_TEMPLATES = configPath('workspace');

/**
 * Makes every file that this process writes from here on, the side files of the database included, its owner's alone.
 * The mask holds for the whole process, so this is for processes of Parley's own.
 */
export function writeForOwnerAlone(): void {
  process.umask(0o077);
}
