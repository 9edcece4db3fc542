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
import { detectInstallationKind, getConfigPath } from '@parley/core/installation';
import { z } from 'zod';

/** The files and folders of an installation. All paths are absolute. */
export interface DataFolder {
  readonly path: string;
  readonly settingsFile: string;
  readonly storeUrl: string;
  readonly workspace: string;
  /** The folder of the profiles, with a trailing slash. */
  readonly profiles: string;
  /** The file through which `parley status` and `parley chat` find the running gateway. */
  readonly instanceFile: string;
  readonly tokenFile: string;
  /** The progress of sends, recorded while the gateway on this folder is running. */
  readonly sendNotes: string;
  /** The work in progress of each process, read by the next one after a crash. */
  readonly working: string;
  /** The last log lines of each process. */
  readonly logs: string;
  /** The last seen state of the database. A database behind this mark was rolled back. */
  readonly databaseMark: string;
  /** This file exists while a restore replaces the files. */
  readonly restoreMarker: string;
}

export function getDefaultDataFolder(): string {
  return join(homedir(), '.parley');
}

/** Finds the data folder: `--data`, else `PARLEY_HOME`, else `~/.parley`. Touches nothing. */
export function locateDataFolder(flag: string | undefined, env: NodeJS.ProcessEnv): DataFolder {
  const path = resolve(flag ?? (env.PARLEY_HOME || getDefaultDataFolder()));
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

/** Creates the folder, readable only by its owner. Throws CliError if it cannot be written. */
export function createDataFolder(folder: DataFolder): void {
  try {
    makeFolder(folder.path);
    accessSync(folder.path, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw createUnwritableError(folder, error);
  }
}

/** Creates missing parents one by one: Node's recursive `mkdir` never returns below /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

/**
 * Locks the folder for this process until it ends. The operating system releases
 * the lock of a killed process. Throws CliError if another process has it.
 */
export function lockDataFolder(folder: DataFolder): { release(): void } {
  try {
    return lockFolder(folder.path);
  } catch (error) {
    throw isDatabaseBusy(error)
      ? createLockedError(folder, error)
      : createUnwritableError(folder, error);
  }
}

/**
 * Locks any folder. Throws SQLite's error; `isDatabaseBusy` tells whether another process holds the
 * lock.
 */
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

function createLockedError(folder: DataFolder, cause: unknown): CliError {
  const instance = findInstance(folder);
  const holder = instance ? ` (process ${instance.pid} at ${instance.address})` : '';
  return new CliError(
    'data-locked',
    `Another Parley is running on ${folder.path}${holder}. Stop it first, talk to it with "${formatCommandLine('chat', folder)}", or choose another folder with --data FOLDER.`,
    cause,
  );
}

/** Whether a backup or a restore is running here, or was killed. */
export function hasUnfinishedWork(folder: DataFolder): boolean {
  return readdirSync(folder.path).some((name) =>
    /^(restoring-|backing-up-|restore-unfinished)/.test(name),
  );
}

function createUnwritableError(folder: DataFolder, cause: unknown): CliError {
  return new CliError(
    'data-unwritable',
    `Parley cannot write in its data folder ${folder.path} (${reasonOf(cause)}). Make it writable, or choose another one with --data FOLDER.`,
    cause,
  );
}

/** A fingerprint that changes whenever the file is written or replaced, on any file system. */
export function getFilePrint(file: string): string {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    return stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
  } catch (error) {
    // Reading the file later fails the same way, and that is logged.
    return reasonOf(error);
  }
}

const PROGRAM = { clone: 'npm run parley --', global: 'parley', project: 'npx parley' } as const;

/**
 * A command as the user types it for this kind of installation, with `--data` unless the folder is
 * the default.
 */
export function formatCommandLine(command: string, folder: Pick<DataFolder, 'path'>): string {
  const data = folder.path === getDefaultDataFolder() ? '' : ` --data ${quotePath(folder.path)}`;
  return `${PROGRAM[detectInstallationKind()]} ${command}${data}`;
}

function quotePath(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

/** The file by which commands in another terminal find the gateway that runs on a data folder. */
const Instance = z.object({
  pid: z.int(),
  address: z.url(),
  host: z.string().exactOptional(),
  /** The settings file that the gateway was started with. */
  settings: z.string().exactOptional(),
});
export type GatewayInstance = z.infer<typeof Instance>;

/**
 * Records the address of this process's gateway. The returned function removes the record unless another gateway on
 * the same folder has replaced it.
 */
export function announceOwnGateway(folder: DataFolder, address: string): () => void {
  const { instanceFile, settingsFile: settings } = folder;
  const instance: GatewayInstance = { pid: process.pid, address, host: hostname(), settings };
  const line = `${JSON.stringify(instance)}\n`;
  writeFileSync(instanceFile, line, { mode: 0o600 });
  return () => {
    if (existsSync(instanceFile) && readFileSync(instanceFile, 'utf8') === line)
      rmSync(instanceFile);
  };
}

/**
 * Finds the running gateway of a data folder. Returns null if there is none, even if a killed
 * process left its file.
 */
export function findInstance(folder: DataFolder): GatewayInstance | null {
  try {
    const parsed = Instance.safeParse(JSON.parse(readFileSync(folder.instanceFile, 'utf8')));
    if (!parsed.success) return null;
    const { pid, host = hostname() } = parsed.data;
    // The process id is only valid on the machine that wrote it; others may share the folder.
    return host === hostname() && isProcessAlive(pid) ? parsed.data : null;
  } catch {
    // There is no file, or a process was killed while writing it: no gateway is running.
    return null;
  }
}

export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

type TokenFile = Pick<DataFolder, 'tokenFile'>;

/** Anything shorter is a partly written file. */
const MIN_KEY_LENGTH = 32;

/**
 * The token of the page and the API. It is created at the first start and readable only by its
 * owner.
 */
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

/**
 * Replaces the token atomically: a process that reads the file gets either the old or the new one.
 */
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

/**
 * Returns a getter for the current token: `parley token rotate` in another process takes effect
 * immediately.
 */
export function createTokenGetter(folder: TokenFile): () => string {
  let token = readOrMakeToken(folder);
  let seen = getFilePrint(folder.tokenFile);
  return () => {
    const print = getFilePrint(folder.tokenFile);
    if (print !== seen) {
      seen = print;
      // If the file is missing, the previous token stays valid.
      token = readToken(folder) ?? token;
    }
    return token;
  };
}

/** A request of the user that cannot be fulfilled; shown without a stack trace. */
export class CliError extends ParleyError {
  constructor(code: string, message: string, cause?: unknown) {
    super({ code, message, retryable: false, cause });
  }
}

/** Invalid options or arguments: exits with code 2 and points to the help. */
export class UsageError extends CliError {
  constructor(message: string) {
    super('usage', message);
  }
}

export const WORKSPACE_TEMPLATES = getConfigPath('workspace');

/**
 * Makes every file that this process writes from here on, including the side files of the database, accessible only to
 * its owner. The mask applies to the whole process, so only processes that belong to Parley may call this.
 */
export function restrictFileMode(): void {
  process.umask(0o077);
}
