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

/** The absolute paths of the files and folders of an installation. */
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
  /** The progress of sends, which is recorded while the gateway runs. */
  readonly sendNotes: string;
  /** The work in progress in each process; after a crash, the next process reads it. */
  readonly working: string;
  /** The folder with each process's most recent log lines. */
  readonly logs: string;
  /**
   * The last seen state of the database. If the database's own state is older than this mark, the
   * database was rolled back.
   */
  readonly databaseMark: string;
  /** A marker file that exists while a restore is replacing files. */
  readonly restoreMarker: string;
}

export function getDefaultDataFolder(): string {
  return join(homedir(), '.parley');
}

/**
 * Finds the data folder: `--data`, else `PARLEY_HOME`, else `~/.parley`. Does not access the file
 * system.
 */
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

/**
 * Creates the data folder, readable only by its owner. Throws CliError if the folder is not
 * writable.
 */
export function createDataFolder(folder: DataFolder): void {
  try {
    createFolder(folder.path);
    accessSync(folder.path, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw createUnwritableError(folder, error);
  }
}

/**
 * Creates missing parent folders one by one, because Node's recursive `mkdir` never returns below
 * /proc.
 */
function createFolder(path: string): void {
  if (existsSync(path)) return;
  createFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

/**
 * Locks the data folder for this process until it ends. The operating system releases the lock of a
 * killed process. Throws CliError if another process holds the lock.
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
 * Locks a folder. Throws SQLite's error if that fails. `isDatabaseBusy` returns whether the cause
 * is a lock held by another process.
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

/** Returns whether a backup or restore is running on this data folder, or was killed on it. */
export function hasUnfinishedWork(folder: DataFolder): boolean {
  return readdirSync(folder.path).some((name) =>
    /^(restoring-|backing-up-|restore-unfinished)/.test(name),
  );
}

/** Returns whether an upgrade has begun to switch, or is returning. */
export function hasUnfinishedUpgrade(folder: Pick<DataFolder, 'path'>): boolean {
  return existsSync(join(folder.path, 'upgrade.json'));
}

function createUnwritableError(folder: DataFolder, cause: unknown): CliError {
  return new CliError(
    'data-unwritable',
    `Parley cannot write to its data folder ${folder.path} (${reasonOf(cause)}). Make the folder writable, or choose another one with --data FOLDER.`,
    cause,
  );
}

/**
 * Returns a fingerprint that changes whenever the file is written or replaced, on any file system.
 */
export function getFileFingerprint(file: string): string {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    return stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
  } catch (error) {
    // Reading the file later fails in the same way, and that failure is logged.
    return reasonOf(error);
  }
}

const PROGRAM = { clone: 'npm run parley --', global: 'parley', project: 'npx parley' } as const;

/**
 * Formats a command as the user types it for this kind of installation; adds `--data` unless the
 * folder is the default.
 */
export function formatCommandLine(command: string, folder: Pick<DataFolder, 'path'>): string {
  const data = folder.path === getDefaultDataFolder() ? '' : ` --data ${quotePath(folder.path)}`;
  return `${PROGRAM[detectInstallationKind()]} ${command}${data}`;
}

function quotePath(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

/**
 * The content of the instance file, through which commands in other terminals find the gateway on a
 * data folder.
 */
const Instance = z.object({
  pid: z.int(),
  address: z.url(),
  host: z.string().exactOptional(),
  /** The settings file that the gateway was started with. */
  settings: z.string().exactOptional(),
});
export type GatewayInstance = z.infer<typeof Instance>;

/**
 * Records the address of this process's gateway in the instance file. The returned function removes
 * the file unless another gateway on the same folder has replaced it.
 */
export function announceGateway(folder: DataFolder, address: string): () => void {
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
 * Finds the running gateway of a data folder; null if there is none, even if a killed process left
 * its instance file.
 */
export function findInstance(folder: DataFolder): GatewayInstance | null {
  try {
    const parsed = Instance.safeParse(JSON.parse(readFileSync(folder.instanceFile, 'utf8')));
    if (!parsed.success) return null;
    const { pid, host = hostname() } = parsed.data;
    // A process id is valid only on its own machine, and other machines may share the folder.
    return host === hostname() && isProcessAlive(pid) ? parsed.data : null;
  } catch {
    // The file is missing, or a process was killed while writing it, so no gateway is running.
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

/** A shorter text is a partly written token. */
const MIN_KEY_LENGTH = 32;

/**
 * Returns the access token for the page and the API. The token is created at the first start, in a
 * file that only its owner can read.
 */
export function readOrCreateToken(folder: TokenFile): string {
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
 * Replaces the token file atomically, so that other processes read either the old token or the new
 * one.
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
 * Returns a getter for the current token, so that `parley token rotate` in another process takes
 * effect immediately.
 */
export function createTokenGetter(folder: TokenFile): () => string {
  let token = readOrCreateToken(folder);
  let seen = getFileFingerprint(folder.tokenFile);
  return () => {
    const print = getFileFingerprint(folder.tokenFile);
    if (print !== seen) {
      seen = print;
      // If the token file is missing, the previous token stays valid.
      token = readToken(folder) ?? token;
    }
    return token;
  };
}

/** A user error that is shown without a stack trace. */
export class CliError extends ParleyError {
  constructor(code: string, message: string, cause?: unknown) {
    super({ code, message, retryable: false, cause });
  }
}

/** Invalid options or arguments. The process exits with code 2 and refers to the help. */
export class UsageError extends CliError {
  constructor(message: string) {
    super('usage', message);
  }
}

export const WORKSPACE_TEMPLATES = getConfigPath('workspace');

/**
 * Makes all files that this process creates from now on accessible only to their owner. This
 * includes the files that SQLite creates beside the database. The umask applies to the whole
 * process, so only Parley's own processes may call this function.
 */
export function restrictFileMode(): void {
  process.umask(0o077);
}
