import { hostname } from 'node:os';
import type { ChannelDefinition } from '@parley/channels';
import type { BuiltPage } from '@parley/console';
import type { Checkpoint, Logger, Runtime } from '@parley/core';
import type { LogDestination } from '@parley/core/telemetry';
import {
  createLogger,
  type KeptLog,
  type LogLevel,
  openKeptLog,
  openSecrets,
  type Secrets,
} from '@parley/core/telemetry';
import type { AccountStatus } from '@parley/gateway';
import type { ProcessRole } from '@parley/store';
import type { DataFolder } from './data-folder.ts';
import { liveToken } from './data-folder.ts';
import type { LoadedSettings } from './settings.ts';

export interface StartOptions extends Pick<Runtime, 'clock' | 'monotonic' | 'random'> {
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
  /** The file that people are asked to edit, where the one of the folder is a copy. */
  readonly settingsToEdit?: string;
  /** The role of this process; all roles when absent. */
  readonly role?: ProcessRole | undefined;
  /** Instead of `http.port` of the settings. */
  readonly port?: number | undefined;
  /** The destination of log lines; standard error when absent. */
  readonly logTo?: LogDestination;
  /** Called at each durable point; only the crash checks do anything there. */
  readonly checkpoint: Checkpoint;
  readonly channels?: readonly ChannelDefinition[];
  /** Reads the files of the web page, where they are not to be built from the sources that run. */
  readonly openPage?: () => Promise<BuiltPage>;
  /** Whether a watchdog may end this process when it stands still; only where the process is Parley's own. */
  readonly endsWhenStill?: boolean;
  /** Hears how each channel account is doing, whenever that changes. */
  readonly onState?: (status: AccountStatus) => void;
  /** Hears that a newer Parley has changed the database that is shared: the caller closes. */
  readonly onOutdated?: ((version: string) => void) | undefined;
  /** Hears that this process is to start again, as for settings that count from a start: the caller does it. */
  readonly onRestart?: (() => void) | undefined;
  /** Hears that this process is to end, as for a restore: the caller closes. */
  readonly onStop?: (() => void) | undefined;
}

/** The log, the token of the page, and what keeps that and all secrets out of what leaves the process. */
export interface OpenLog {
  readonly log: Logger;
  readonly token: () => string;
  /** Code that makes or reads a new secret while Parley runs adds it. */
  readonly secrets: Secrets;
  readonly useLevel: (level: LogLevel) => void;
}

/** The file that keeps this process's log lines for the page; undefined where the settings want none. */
export function keptLogOf(
  { folder, clock, role = 'all' }: Pick<StartOptions, 'folder' | 'clock' | 'role'>,
  { settings }: Pick<LoadedSettings, 'settings'>,
): KeptLog | undefined {
  const { keepMegabytes } = settings.log;
  if (keepMegabytes === 0) return undefined;
  const name = logNameOf({ role, host: hostname(), pid: process.pid });
  return openKeptLog({ folder: folder.logs, name, bytes: keepMegabytes * 1e6, now: clock() });
}

/** The name of a process's log file, without its ending. */
export function logNameOf(process: {
  readonly role: ProcessRole;
  readonly host: string;
  readonly pid: number;
}): string {
  return `${process.role}-${process.host.replaceAll(/[^\w.-]/g, '_')}-${process.pid}`;
}

export function openLog(
  { folder, logTo }: Pick<StartOptions, 'folder' | 'logTo'>,
  { settings, secrets: known }: Pick<LoadedSettings, 'settings' | 'secrets'>,
  kept?: KeptLog,
): OpenLog {
  const secrets = openSecrets(known);
  const { token: fixed } = settings.http;
  const token = addedTo(secrets, fixed === undefined ? liveToken(folder) : () => fixed);
  let { level } = settings.log;
  const log = createLogger({
    ...settings.log,
    level: () => level,
    scrub: secrets.scrubLog,
    kept,
    ...(logTo === undefined ? {} : { destination: logTo }),
  });
  const useLevel = (next: LogLevel): void => {
    level = next;
  };
  return { log, token, secrets, useLevel };
}

/** Each token that was ever in use is a secret from then on. */
function addedTo(secrets: Secrets, token: () => string): () => string {
  let last = '';
  const current = (): string => {
    const now = token();
    if (now !== last) secrets.add([now]);
    last = now;
    return now;
  };
  current();
  return current;
}
